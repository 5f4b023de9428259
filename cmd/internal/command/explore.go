package command

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/exploring"
	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/scenarios"
)

// exploration is one run of the command: its flags and what came of it.
type exploration struct {
	part, out, junit       string
	depth, parallel, plays int
	seed                   uint64
	calls, disturbances    string
	resume, failFast       bool
	kubeconfigs            []string
	controlPlanes          int    // that explore starts
	controlPlane           string // the command that runs one
	planes                 controlPlanes
	console                connection // of the emulator whose console shows the results
	program                []string
	file                   *os.File
	mu                     sync.Mutex
	progress               explore.Progress
}

func newExplore() *cobra.Command {
	x := &exploration{}
	cmd := &cobra.Command{
		Use:   "explore [SCENARIO|FILE] [-- PROGRAM [ARGUMENT...]]",
		Short: "Find a client's bugs: disturb each of its calls, and judge how it ends",
		Long: `Find a client's bugs: clbemu plays a scenario undisturbed, then again and again, each
time with one disturbance at one call, on a new emulator: the call is refused, its answer
gets lost, comes late or never, a read is stale, the program is killed, or a condition of
the world is on for a while. Once the client is idle, clbemu deletes, stops or changes a
resource it created. clbemu compares its end with the end of the undisturbed play.

The client is the script of the scenario's client part; or PROGRAM, with its program part,
or without a scenario; or, with --kubeconfig or --control-planes, a controller in a cluster, which PROGRAM
starts: it finds the cluster in KUBECONFIG and the cloud in the variables of clbemu env.

Each violation is printed as a scenario, which clbemu scenario run plays again.

` + exploreRules() + `

Exit codes: 0 no violation, 1 a violation that the scenario does not name as known,
2 the scenario fails undisturbed or can't be read, 3 the exploration did not finish.`,
		Example: `  clbemu explore -- ./my-controller --once
  clbemu explore my.yaml --depth 2 --out results/
  clbemu explore --console 127.0.0.1:9601 -- ./my-controller --once
  clbemu explore service.yaml --kubeconfig a.kubeconfig --kubeconfig b.kubeconfig -- ./ccm.sh
  clbemu explore service.yaml --control-planes 4 -- ./ccm.sh`,
		ValidArgsFunction: completeScenario,
		RunE:              x.run,
	}
	flags := cmd.Flags()
	partFlag(flags, &x.part, "part to explore: client, program or kubernetes (default: chosen by the other arguments)")
	flags.IntVar(&x.depth, "depth", 1, "disturbances of a play: 1 or 2")
	flags.IntVar(&x.parallel, "parallel", 2*runtime.NumCPU(), "number of plays that run at once")
	flags.IntVar(&x.plays, "plays", 0, "limit of plays, chosen by --seed; 0 is all")
	flags.Uint64Var(&x.seed, "seed", 1, "seed that chooses the plays")
	flags.StringVar(&x.calls, "calls", "", "disturb calls of these actions alone, such as 'DescribeVServerGroup*,SetVServerGroupAttribute', and nothing at rest")
	flags.StringVar(&x.disturbances, "disturbances", "", "try these disturbances alone, such as 'throttled,killed*'")
	flags.StringVar(&x.out, "out", "", "folder to keep results in: plays.jsonl, report.json and a scenario for each violation")
	flags.BoolVar(&x.resume, "resume", false, "run only the plays that are not in the folder of --out yet")
	flags.BoolVar(&x.failFast, "fail-fast", false, "stop after the first violation")
	flags.StringVar(&x.junit, "junit", "", "file to write a JUnit report to")
	flags.StringVar(&x.console.server, "console", "", "control API of a running emulator, whose console then shows the results at /explore")
	flags.StringVar(&x.console.token, "control-token", "", "token of the control API")
	flags.StringVar(&x.console.tokenFile, "control-token-file", "", "file with that token, used unless --control-token is given")
	flags.StringArrayVar(&x.kubeconfigs, "kubeconfig", nil, "cluster for a controller; each gets one play at a time; kubectl must be on the PATH")
	flags.IntVar(&x.controlPlanes, "control-planes", 0, "start so many control planes by --control-plane, instead of --kubeconfig, and end them at the end")
	flags.StringVar(&x.controlPlane, "control-plane", "make control-plane", "command that runs a control plane until it is ended, and prints KUBECONFIG=FILE; the default is for a clone of clbemu")
	return cmd
}

// exploreRules lists the rules for help.
func exploreRules() string {
	text := "Rules, which the scenario can switch off by explore: {off: [RULE]}:"
	for _, r := range scenarios.Rules {
		text += fmt.Sprintf("\n  %-9s %s", r[0], r[1])
	}
	text += "\n\nDisturbances:"
	for _, k := range explore.Kinds() {
		text += fmt.Sprintf("\n  %-11s %s", k[0], k[1])
	}
	return text
}

// badPattern returns the first invalid pattern in lists.
func badPattern(lists ...string) string {
	for _, list := range lists {
		if bad, is := glob.Split(list).Bad(); is {
			return bad
		}
	}
	return ""
}

// programAlone is the scenario of a program without one.
const programAlone = `about: A program does its work.
program:
  steps: [{start: true}]
`

func (x *exploration) run(cmd *cobra.Command, args []string) error {
	config, err := x.config(cmd, args)
	if err != nil {
		return err
	}
	console, err := x.consoleOf(cmd.Context())
	if err != nil {
		return err
	}
	defer x.planes.stop()
	if err := x.startPlanes(cmd.Context(), &config, cmd.ErrOrStderr()); err != nil {
		return err
	}
	if err := x.open(&config); err != nil {
		return err
	}
	p := printing(cmd)
	screen := terminal.New(cmd.ErrOrStderr())
	stop := screen.Live(x.line)
	config.Progress = func(now explore.Progress) {
		x.mu.Lock()
		x.progress = now
		x.mu.Unlock()
		if o := now.Last; o.Verdict == explore.Violated { // findings come at the end, this now
			screen.Printf("violation of %s: %s (play %d of %d)\n", o.Rule, o.ID, now.Done, now.Total)
		}
	}
	report, err := explore.Run(cmd.Context(), config)
	stop()
	err = errors.Join(err, x.close(report))
	if report == nil {
		return x.refused(err)
	}
	if console != nil {
		// After Ctrl-C too.
		err = errors.Join(err, console.PutExploration(context.WithoutCancel(cmd.Context()), report.Page()))
	}
	if shown := p.show(report.WithoutJournals(), func(s *terminal.Screen) error { return showExploration(s, report, x.out) }); shown != nil {
		return shown
	}
	switch {
	case err != nil:
		return cannot(err)
	case report.Stopped != "":
		return cannot(fmt.Errorf("%d of %d plays were made: %s", len(report.Outcomes), report.Planned, report.Stopped))
	case report.New() > 0:
		return failed(fmt.Errorf("%s", counted(report.New(), "violation")))
	}
	return nil
}

// consoleOf returns the control API that shows the results, or nil if none does. It warns of one
// that does not answer before the plays.
func (x *exploration) consoleOf(ctx context.Context) (*controlclient.Client, error) {
	if x.console.server == "" {
		return nil, nil
	}
	if _, err := address(x.console.server, controlPort); err != nil {
		return nil, usage(fmt.Errorf("--console takes the address of the control API, such as %s: %w", defaultControl, err))
	}
	c, err := x.console.client()
	if err != nil {
		return nil, err
	}
	if _, err := c.Server(ctx); err != nil {
		return nil, withExitCode(err)
	}
	return c, nil
}

// refused gives an exploration that did not begin its exit code.
func (x *exploration) refused(err error) error {
	undisturbed, unsettled, problems := (*explore.Undisturbed)(nil), (*explore.Unsettled)(nil), scenarios.Problems(nil)
	if errors.As(err, &undisturbed) || errors.As(err, &unsettled) || errors.As(err, &problems) {
		return usage(err)
	}
	return cannot(err)
}

// line describes the progress on a terminal.
func (x *exploration) line() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.progress
	if p.Total == 0 {
		return "playing undisturbed"
	}
	return fmt.Sprintf("%d of %d plays, %s, %s left: %s", p.Done, p.Total, counted(p.Violations, "violation"), p.Left.Round(time.Second), p.Last.ID)
}

// config reads the command line.
func (x *exploration) config(cmd *cobra.Command, args []string) (c explore.Config, err error) {
	names := args
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		names, x.program = args[:dash], args[dash:]
	}
	if err := x.check(names); err != nil {
		return c, usage(err)
	}
	file := scenarioFile{"program.yaml", []byte(programAlone)}
	if len(names) == 1 {
		files, err := scenarioFiles(names[0])
		if err != nil {
			return c, usage(err)
		}
		if len(files) != 1 {
			return c, usage(fmt.Errorf("%s has %d scenarios: name one", names[0], len(files)))
		}
		file = files[0]
	}
	c = exploring.Config(file.name, file.text, x.partOf(file))
	c.Program.Command = x.program
	c.First = x.failFast
	c.Depth, c.Parallel, c.Plays, c.Seed = x.depth, x.parallel, x.plays, x.seed
	c.Calls, c.Disturbances = glob.Split(x.calls), glob.Split(x.disturbances)
	if c.Part == scenarios.KubernetesPart {
		if err := x.checkPlanes(); err != nil {
			return c, err
		}
		if len(x.kubeconfigs) == 0 && x.controlPlanes == 0 {
			return c, usage(errors.New("the kubernetes part needs a cluster: name it with --kubeconfig, or start some with --control-planes"))
		}
	}
	return c, nil
}

// check refuses a command line that means nothing.
func (x *exploration) check(names []string) error {
	switch {
	case len(names) > 1:
		return fmt.Errorf("explore takes one scenario, not %d", len(names))
	case len(names) == 0 && len(x.program) == 0:
		return errors.New("give a scenario, or a program after --, as in clbemu explore -- ./my-controller --once")
	case x.depth < 1 || x.depth > 2:
		return fmt.Errorf("--depth is 1 or 2, not %d", x.depth)
	case x.parallel < 1 || x.parallel > 64:
		return fmt.Errorf("--parallel is 1 to 64, not %d", x.parallel)
	case x.plays < 0:
		return errors.New("--plays is 0 or more")
	case badPattern(x.calls, x.disturbances) != "":
		return fmt.Errorf("%q is no pattern", badPattern(x.calls, x.disturbances))
	case x.resume && x.out == "":
		return errors.New("--resume needs --out, the folder with the results so far")
	case x.part != "" && x.part != scenarios.ClientPart && x.part != scenarios.ProgramPart && x.part != scenarios.KubernetesPart:
		return fmt.Errorf("--part is client, program or kubernetes, not %s", x.part)
	}
	return new(scenarios.Explore).CheckDisturbances(x.disturbances)
}

// partOf chooses the part that the command line is about.
func (x *exploration) partOf(file scenarioFile) string {
	switch {
	case x.part != "":
		return x.part
	case len(x.kubeconfigs) > 0 || x.controlPlanes != 0:
		return scenarios.KubernetesPart
	case len(x.program) > 0:
		return scenarios.ProgramPart
	}
	if s, err := scenarios.Load(file.name, file.text, scenarios.Options{}); err == nil && s.Client == nil && s.Program != nil {
		return scenarios.ProgramPart
	}
	return scenarios.ClientPart
}

// playsFile holds the outcomes so far, each in a line after the one that says of what.
const playsFile = "plays.jsonl"

// header is the first line of the file: outcomes of another exploration can't be used.
type header struct {
	Of string `json:"explorationOf"`
}

func (x *exploration) headerOf(c *explore.Config) header {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n%s\n%q\n%d %d %d", c.Text, c.Part, c.Program.Command, c.Depth, c.Plays, c.Seed)
	if c.Calls != nil || c.Disturbances != nil {
		fmt.Fprintf(hash, "\n%q %q", c.Calls, c.Disturbances)
	}
	return header{fmt.Sprintf("%x", hash.Sum(nil)[:12])}
}

// open opens the file of outcomes, and reads the earlier ones if they count.
func (x *exploration) open(c *explore.Config) error {
	if x.out == "" {
		return nil
	}
	if err := os.MkdirAll(x.out, 0o750); err != nil {
		return usage(err)
	}
	path := filepath.Join(x.out, playsFile)
	mine := x.headerOf(c)
	if x.resume {
		done, err := readOutcomes(path, mine)
		if err != nil {
			return usage(err)
		}
		c.Done = done
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	if err := e.Encode(mine); err != nil {
		return cannot(err)
	}
	for _, o := range c.Done {
		if err := e.Encode(o); err != nil {
			return cannot(err)
		}
	}
	var err error
	if x.file, err = os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
		return usage(err)
	}
	if _, err := x.file.Write(text.Bytes()); err != nil {
		return cannot(errors.Join(fmt.Errorf("can't keep the results: %w", err), x.file.Close()))
	}
	c.Record = func(o explore.Outcome) error {
		line, err := json.Marshal(o)
		if err == nil {
			_, err = x.file.Write(append(line, '\n'))
		}
		if err != nil {
			return fmt.Errorf("can't keep the results: %w", err)
		}
		return nil
	}
	return nil
}

// maxOutcome bounds a line of the file.
const maxOutcome = 4 << 20

// readOutcomes reads the outcomes of an earlier run. An incomplete last line counts
// for nothing.
func readOutcomes(path string, mine header) (map[string]explore.Outcome, error) {
	text, err := readPath(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxOutcome)
	var is header
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &is) != nil || is != mine {
		return nil, fmt.Errorf("%s is of another scenario, program, depth or choice of plays: give the same again, or another --out", path)
	}
	done := make(map[string]explore.Outcome)
	for lines.Scan() {
		var o explore.Outcome
		if json.Unmarshal(lines.Bytes(), &o) == nil && o.ID != "" {
			done[o.ID] = o
		}
	}
	return done, lines.Err()
}

// close writes what came of it.
func (x *exploration) close(report *explore.Report) error {
	var errs []error
	if x.file != nil {
		errs = append(errs, x.file.Close())
	}
	if report == nil {
		return errors.Join(errs...)
	}
	if x.junit != "" {
		errs = append(errs, writeFile(x.junit, func(text *bytes.Buffer) error { return report.WriteJUnit(text) }))
	}
	if x.out != "" {
		errs = append(errs, writeFile(filepath.Join(x.out, "report.json"), func(text *bytes.Buffer) error { return encode(text, report.WithoutJournals(), "  ") }))
		for i, f := range report.Findings {
			errs = append(errs, writeFile(filepath.Join(x.out, findingFile(i, f)), func(text *bytes.Buffer) error {
				_, err := text.WriteString(f.Scenario)
				return err
			}))
		}
	}
	return errors.Join(errs...)
}

func writeFile(path string, write func(*bytes.Buffer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o600)
}

// findingFile names the scenario of a violation.
func findingFile(i int, f explore.Finding) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, f.Rule+" "+f.About)
	return fmt.Sprintf("%02d-%s.yaml", i+1, name[:min(len(name), 80)])
}

// replayFlags returns the flags with which to replay a violation that was written as a scenario.
func replayFlags(part string) string {
	switch part {
	case scenarios.KubernetesPart:
		return " --part kubernetes --kubeconfig KUBECONFIG"
	case scenarios.ProgramPart:
		return " --part program"
	}
	return ""
}

// showExploration prints the table and the violations.
func showExploration(s *terminal.Screen, r *explore.Report, out string) error {
	header, rows := r.Table()
	if len(rows) > 0 {
		if err := s.Table(header, rows); err != nil {
			return err
		}
	}
	for i, f := range r.Findings {
		mark := terminal.Bad.Render("violation of " + f.Rule)
		if f.Known != "" {
			mark = "known violation of " + f.Rule
		}
		s.Printf("\n%s: %s\n", mark, f.About)
		for _, change := range f.Difference() {
			s.Printf("%s", s.Fit("  "+change.String()+"\n", 4))
		}
		if f.Known != "" {
			s.Printf("  known     %s\n", f.Known)
			continue
		}
		if len(f.Plays) > 1 {
			s.Printf("%s", s.Fit("  also      "+strings.Join(f.Plays[1:], "; ")+"\n", 12))
		}
		if out != "" {
			s.Printf("  scenario  %s\n", filepath.Join(out, findingFile(i, f)))
			continue
		}
		s.Printf("  scenario\n%s", "    "+strings.ReplaceAll(strings.TrimRight(f.Scenario, "\n"), "\n", "\n    ")+"\n")
	}
	for _, why := range r.NotPlayed() {
		s.Printf("\ncould not run: %s\n", why)
	}
	s.Printf("\n%s\n", r.Summary())
	if late := r.Late(); late != nil {
		s.Printf("%s: in %s the client called again only after %.1f s, later than it is quiet at rest (%.1f s), so that plays may have been judged too early: give explore: {quiet: %.0fs}\n",
			terminal.Bad.Render("warning"), late.ID, late.Retry, r.Quiet, math.Ceil(late.Retry+1))
	}
	if len(r.Polls) > 0 {
		s.Printf("polls: at rest the client repeats %s, which count for nothing\n", strings.Join(r.Polls, ", "))
	}
	if len(r.Findings) > 0 {
		s.Printf("play one again: clbemu scenario run FILE%s\n", replayFlags(r.Part))
	}
	if len(r.Varying) > 0 {
		s.Printf("left out: %s that varied between two undisturbed plays\n", counted(len(r.Varying), "call"))
	}
	return nil
}
