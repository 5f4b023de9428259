package explain

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// family explains codes by their names, for refusals about which nothing more is known.
type family struct {
	form             string // regular expression of the codes, in lower case
	happened         string
	cure, begin, end string
}

// families are in order: the first that fits counts.
var families = []family{
	{`^throttling|flowcontrol|toomanyrequests`, "The account makes more calls than its limits allow.", "Make fewer calls at once, and repeat the call after a pause that grows.", "set throttle.profile to realistic, and repeat the call quickly", "wait a minute"},
	{`signature|accesskey|securitytoken|nonce|timestamp`, "The call is not signed as the cloud expects.", "Check the access key, its secret, the security token and the clock of the client.", "sign the call with another secret, or with one that was deleted", "sign it with a valid access key"},
	{`^missing|mandatory`, "The call lacks a parameter.", "Pass the parameter: `clbemu explain ACTION` lists those that an action requires.", "leave the parameter out", "pass it"},
	{`arrear|unpaid|^pay\.|^payfor|^order|^purchase|^price|insufficient_?balance|money`, "The account can't pay for the order, or the order is not allowed.", "See in the billing console what the account owes, and which orders it may place.", "", ""},
	{`rolenotexist|servicelinkedrole|aliyunservicerole`, "The account lacks the service-linked role that the product needs.", "Create the service-linked role in the console, and allow ram:CreateServiceLinkedRole to the user.", "", ""},
	{`forbidden\.ram|nopermission|permission\.denied|permission$|unauthorized|notauthorized|authfail|auth_failed`, "The caller may not do that.", "Grant the RAM user or role the action that was called.", "give the account a RAM policy that denies the action", "allow the action"},
	{`deletionprotection|deleteprotection|modificationprotection`, "A protection of the resource forbids the call.", "Turn the protection off, in the console or by the action that sets it, and repeat the call.", "turn the protection on", "turn it off"},
	{`quota(exceed|limit|full|insufficient|$)|quotaexceed|quota\.exceed|\.[a-z0-9]*quota|overlimit|limitexceed|exceed|toomany|reachmax|maxnum|countlimit`, "A limit of the account or of a resource is reached.", "Apply for more in the Quota Center, or delete what is not used.", "lower the quota, or create as many as it allows", "raise the quota, or delete one"},
	{`zoneresourcelimit|notenough|nostock|soldout|resourcelimit|availableipnotexist|halt`, "The cloud has no more of what the call asks for in this zone or vSwitch.", "Name another zone or vSwitch, or try later.", "", ""},
	{`locked|security$`, "The resource is locked, for an unpaid bill or for security.", "See in the console why it is locked, and resolve that.", "", ""},
	{`configuring|incorrectstatus|processing|pending|creating|\.lock$|taskconflict|statusnotsupport|invalidstatus|statuserror|operationconflict|busy`, "The resource is changing, or in a state that does not take the call.", "Wait until the resource is ready, and repeat the call.", "let the stages of resources take time by the condition life.profile, and call again at once", "wait until the stage is over"},
	{`not\.?found|not\.?exist|nosuch|notassociated|notavail`, "The call names a resource that does not exist in this region and account.", "See by the action that lists such resources whether the id, the region and the account are right.", "name a resource that does not exist, such as one that was deleted", "name one that exists"},
	{`inuse|dependencyviolation|isused|isrefer|associated|vipexist|hasbeen|bound`, "Another resource uses this one.", "Find what uses it, remove that first, and repeat the call.", "let another resource use it, such as a listener a server group", "remove what uses it"},
	{`alreadyexist|duplicat|conflict|exists?$`, "There is such a resource already.", "Use the one that exists, delete it, or choose another name, port or address.", "create it twice", "delete the first"},
	{`unsupport|notsupport|notallow|operationdenied|forbidden|mismatch|invalidoperation`, "The resource does not support what the call asks for, in its type, edition or region.", "See what the type and the edition of the resource offer, and ask for that.", "", ""},
	{`invalid|illegal|malformed|param|format|paramerror|abs\.`, "A parameter has a value that the action does not take.", "Correct the value: the page of the action in the API reference says which it takes.", "pass a value that the action does not take", "pass one that it takes"},
	{`unavailable|internalerror|timeout|unknownerror|failed$`, "The cloud could not serve the call for now.", "Repeat the call after a pause, and see the status page of the cloud if it lasts.", "", ""},
	{``, "The cloud refused the call.", "See the page of the action in the API reference, and ask the support of the cloud with the request id.", "", ""},
}

// matched returns the expressions of the families.
var matched = sync.OnceValue(func() (list []*regexp.Regexp) {
	for _, f := range families {
		list = append(list, regexp.MustCompile(f.form))
	}
	return list
})

// overLimit matches a message about a limit, whatever its code is called.
var overLimit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:maximum )?(?:number|quantity|count|quota)\b.{0,60}\b(?:exceed|reach|beyond)|(?:exceed|beyond|over|reach).{0,40}\bquota|insufficient quota|quota.{0,30}(?:insufficient|not enough)`)
})

// familyOf returns the family of a code with a message.
func familyOf(code, message string) *family {
	if overLimit().MatchString(message) {
		return &families[slices.IndexFunc(families, func(f family) bool { return strings.HasPrefix(f.form, "quota(") })]
	}
	i := slices.IndexFunc(matched(), func(form *regexp.Regexp) bool { return form.MatchString(strings.ToLower(code)) })
	return &families[i]
}

// complete gives a refusal what its family says: the cure that nothing else has, and how the
// refusal begins here. One that clbemu only returns by a fault begins with the rule.
func (a *Answer) complete() {
	if a.Code == "" || a.known {
		return
	}
	f, tested := familyOf(a.Code, a.Message), len(a.Causes) > 0
	switch {
	case a.Happened == "", a.Happened == a.Message && !tested:
		a.Happened, a.Guess = f.happened, true
	case len(a.Causes) > 1 && cureOf(a.Code) == nil && a.Message != "":
		a.Happened = a.Message // as what happened in one case did not in others
	}
	if len(a.Cures) == 0 {
		a.Cures, a.Guess = []string{f.cure}, true
	}
	if p := parameter().FindStringSubmatch(a.Message); p != nil && a.Guess && strings.HasPrefix(f.cure, "Correct the value") {
		a.Cures = []string{"Correct the value of " + p[1] + p[2] + ": the page of the action in the API reference says which it takes."}
	}
	if a.tested = tested; tested {
		return
	}
	begin, end, about := f.begin, f.end, f.happened
	c := cureOf(a.Code)
	if c != nil {
		about = c.Happened
	}
	if c != nil && c.Begin != "" {
		begin, end = c.Begin, c.End
	} else if a.byFault || begin == "" {
		begin, end = "a fault rule for the action with `effect: {error: {code: "+a.Code+"}}`", "delete the rule"
	}
	a.Causes = []controlapi.Cause{{Code: a.Code, Status: a.Status, Message: a.Message, About: about, Begin: begin, End: end}}
}

// parameter matches the parameter that a message names.
var parameter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i:\bparam(?:eter)?s?(?: of| value| named?)?:?) ["'“\[{]?([A-Z](?:[A-Za-z0-9.]*[A-Za-z0-9])?)\b|["'“\[]([A-Z](?:[A-Za-z0-9.]*[A-Za-z0-9])?)["'”\]] (?:is|are) (?:not valid|invalid|illegal)`)
})

// labels lists the words by which SDKs, the CLI and Terraform mark an error of Alibaba Cloud.
var labels = []string{"aliyun", "alicloud", "alibaba", "sdkerror", "errorcode", "sdk.servererror", "teaexception", "error syncing load balancer [", "error deleting load balancer [", "syncloadbalancerfailed", "cleanloadbalancerfailed"}

// others lists the words that mark errors of other clouds and of Kubernetes itself.
var others = []string{"googleapi", "arn:aws", "an error occurred (", "amazonaws", "azure", "elasticloadbalancing", "creating ec2", "creating elb", "botocore", "sts:assumerole", "minikube", "metallb",
	"error: the server doesn't have", "error from server (", "kubelet", "default-scheduler", "exceeded quota: ", "'projects/", "status code: 400, request id", "status code: 403, request id"}

// ofTheCloud reports whether a text shows that its error comes from Alibaba Cloud or from a CCM.
func (x searchText) ofTheCloud() bool { return x.marked(labels) }

// foreign reports whether a text shows that its error comes from another cloud.
func (x searchText) foreign() bool { return x.marked(others) && !x.ofTheCloud() }

func (x searchText) marked(marks []string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(x.lower, mark) })
}

// dotted matches a code of two names.
var dotted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b([A-Z][a-z]\w*(?:\.[A-Z]\w+)+)\b`) })

// core matches the message of an error in the forms of the SDKs.
var core = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)message"?\s*[:=]\s*"?(?:code: \d+, )?([^\n]+)|code: \d+, ([^\n]+)`)
})

// said returns the message of the error in a text.
func (x searchText) said() string {
	match := core().FindStringSubmatch(x.text)
	if match == nil {
		return ""
	}
	text := cmp.Or(match[1], match[2])
	for _, end := range []string{"request id:", "requestId", "RequestId", `","`, `", "`, `"}`, " Data:", ", there are unprocessed"} {
		text, _, _ = strings.Cut(text, end)
	}
	return strings.Trim(text, " \t\r.,)}'[\"")
}

// within returns the message itself in a text that shows an error of the cloud or of a CCM, or
// "" where nothing is around it.
func (x searchText) within() string {
	if !x.ofTheCloud() {
		return ""
	}
	if said := x.said(); said != "" {
		return said
	}
	parts := strings.Split(x.text, ": ")
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-1]
}

// unknown answers for a code that clbemu does not know, by its name, and by the message
// beside it.
func (c *Index) unknown(x searchText) (*Answer, bool) {
	match := labelled().FindStringSubmatch(x.text)
	if match == nil && x.marked([]string{"requestid", "request id", "slb", "nlb"}) {
		match = dotted().FindStringSubmatch(x.text)
	} else if !x.ofTheCloud() && !answered().MatchString(x.text) {
		return nil, false
	}
	if match == nil || len(x.codes) > 0 {
		return nil, false
	}
	a := &Answer{Code: match[1], Message: x.said(), Guess: true, Scenarios: []string{}, Documented: []string{}}
	f := familyOf(a.Code, a.Message)
	a.Happened, a.Cures = f.happened, []string{f.cure}
	a.Causes = []controlapi.Cause{{Code: a.Code, Message: a.Message, About: f.happened, Begin: "a fault rule for the action with `effect: {error: {code: " + a.Code + ", httpStatus: 400, custom: true}}`", End: "delete the rule"}}
	return a, true
}

// answered matches a code and a message as the cloud answers them.
var answered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)Code"?\s*[:=]\s*"?[A-Z][A-Za-z0-9]*[._A-Z].{0,200}Message"?\s*[:=]`)
})
