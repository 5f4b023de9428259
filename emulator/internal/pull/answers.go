package pull

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// unfinished is the file of a folder in which a pull has not come to its end. It has what was read
// so far.
const unfinished = "pull.jsonl"

// Unfinished returns an error if the folder is one that a pull was to fill and did not.
func Unfinished(dir string) error {
	if dir == "" {
		return nil
	}
	file, err := openRegular(filepath.Join(dir, unfinished), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // the folder is a file, which whoever opens it says
		return nil
	}
	var of scope
	if err == nil {
		_ = json.NewDecoder(io.LimitReader(file, maxScope)).Decode(&of) // a damaged file is not finished either
		_ = file.Close()
	}
	real := ""
	if of.Anonymised {
		real = ". Until then " + unfinished + " has the account's own names and addresses: give it to no one"
	}
	return fmt.Errorf("the pull of an account into %s did not finish: go on with `clbemu state pull --resume`, or delete the folder%s", dir, real)
}

// openRegular opens a file, but no link, device or pipe.
func openRegular(path string, flag int) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	wrong := fmt.Errorf("%s is no regular file: delete it, and pull again", path)
	if !info.Mode().IsRegular() {
		return nil, wrong
	}
	file, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) { // it was replaced meanwhile
		return nil, errors.Join(wrong, err, file.Close())
	}
	return file, nil
}

// maxScope bounds what is read of a file's first line.
const maxScope = 1 << 20

// answers holds an account's answers, by call. A file keeps them, so that a pull that was
// interrupted need not ask again.
type answers struct {
	file *os.File
	got  map[string]json.RawMessage
}

// scope is the scope of a pull: the first line of the file.
type scope struct {
	Account, Region string
	VPCs            []string          `json:",omitempty"`
	LoadBalancers   []string          `json:",omitempty"`
	Tags            map[string]string `json:",omitempty"`
	Anonymised      bool              `json:",omitempty"`
}

// entry is another line: a call with its answer.
type entry struct {
	Call   string
	Answer json.RawMessage
}

// wrongFolder is an error about the folder, which is fs.ErrExist or fs.ErrNotExist.
type wrongFolder struct {
	text string
	is   error
}

func (w *wrongFolder) Error() string { return w.text }

func (w *wrongFolder) Unwrap() error { return w.is }

// openAnswers begins the file of a pull, or goes on with it.
func openAnswers(dir string, of scope, resume bool) (*answers, error) {
	path := filepath.Join(dir, unfinished)
	a := &answers{got: make(map[string]json.RawMessage)}
	if resume {
		return a, a.reopen(dir, path, of)
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == unfinished }):
		return nil, &wrongFolder{Unfinished(dir).Error(), fs.ErrExist}
	case err == nil && len(entries) > 0:
		return nil, &wrongFolder{dir + " is not empty: name another folder", fs.ErrExist}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if a.file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	return a, a.write(of)
}

func (a *answers) write(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = a.file.Write(append(text, '\n'))
	return err
}

// reopen reads the file of an interrupted pull. A last line that is cut off goes.
func (a *answers) reopen(dir, path string, want scope) (err error) {
	if a.file, err = openRegular(path, os.O_RDWR); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return &wrongFolder{"there is no pull to resume in " + dir + ": leave out --resume", fs.ErrNotExist}
		}
		return err
	}
	lines := bufio.NewReader(a.file)
	first, err := lines.ReadBytes('\n')
	var is scope
	if err != nil || json.Unmarshal(first, &is) != nil {
		return fmt.Errorf("%s is damaged: delete the folder, and pull again", path)
	}
	if said, _ := json.Marshal(want); !bytes.Equal(said, bytes.TrimSpace(first)) {
		return fmt.Errorf("the pull in %s is of another account, region or choice (%s): give the same again", dir, bytes.TrimSpace(first))
	}
	whole := int64(len(first))
	for {
		line, err := lines.ReadBytes('\n')
		var e entry
		if err != nil || json.Unmarshal(line, &e) != nil {
			break
		}
		a.got[e.Call] = e.Answer
		whole += int64(len(line))
	}
	if err := a.file.Truncate(whole); err != nil {
		return err
	}
	_, err = a.file.Seek(whole, io.SeekStart)
	return err
}

// close closes the file, and deletes it if the pull is done.
func (a *answers) close(done bool) error {
	if a == nil || a.file == nil {
		return nil
	}
	err := a.file.Close()
	if done {
		err = errors.Join(err, os.Remove(a.file.Name()))
	}
	return err
}

// refused is the answer of a call that the account rejects.
type refused struct{ action, code, message string }

func (r *refused) Error() string { return r.action + " was refused: " + r.code + ": " + r.message }

// missing reports whether it says that what the call is about is not there.
func (r *refused) missing() bool {
	return strings.Contains(r.code, "NotFound") || strings.Contains(r.code, "NotExist") || strings.Contains(r.code, "NoExist")
}

// ask makes a call, unless its answer is known. A refusal is a *refused, which is kept as well.
func (p *Puller) ask(ctx context.Context, product, action string, params map[string]string) (row, error) {
	key := fmt.Sprintf("%s %s %q", product, action, params) // which sorts the parameters
	p.asked++
	if text, known := p.answers.got[key]; known {
		p.planned--
		return readAnswer(action, text)
	}
	status, body, err := p.Call(ctx, product, action, params)
	if err != nil {
		return nil, err
	}
	p.done++
	if p.Progress != nil {
		p.Progress(p.done, max(p.planned, p.done))
	}
	if status >= 400 {
		body = map[string]any{"refused": textOf(body["Code"]), "message": textOf(body["Message"])}
	}
	delete(body, "RequestId")
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if err := p.answers.write(entry{key, text}); err != nil {
		return nil, err
	}
	return readAnswer(action, text)
}

func readAnswer(action string, text json.RawMessage) (row, error) {
	var body row
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, err
	}
	if code, ok := body["refused"].(string); ok {
		return nil, &refused{action, code, body.text("message")}
	}
	return body, nil
}
