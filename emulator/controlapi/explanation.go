package controlapi

// Explanation is the answer of GetExplanation: the explanation of an error code or an
// action.
type Explanation struct {
	Name string `json:"name"`
	// Action is set if the name is an action's.
	Action *ExplainedAction `json:"action,omitempty"`
	// Answers lists the refusals with the code, or of the action.
	Answers []ExplainedAnswer `json:"answers"`
	// Causes bring such refusals about, and end them; each is tried by a test.
	Causes []Cause `json:"causes"`
	// Evidence lists the evidence that the answers cite.
	Evidence []Evidence `json:"evidence"`
	// Statements lists what is published about the action, or about refusals with the code.
	Statements []Statement `json:"statements"`
	// Fault is a rule that answers with the code, if the cloud does and this emulator does not by
	// itself.
	Fault string `json:"fault,omitempty"`
}

// ExplainedAction is an action with what it reads.
type ExplainedAction struct {
	Product    string               `json:"product"`
	Version    string               `json:"version"`
	Emulated   bool                 `json:"emulated"`
	Mutates    bool                 `json:"mutates"`
	Parameters []ExplainedParameter `json:"parameters"`
}

// ExplainedParameter is a parameter that an action reads.
type ExplainedParameter struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
}

// ExplainedAnswer is an error that some actions of a product return.
type ExplainedAnswer struct {
	Product string `json:"product"`
	// Actions is empty for all actions.
	Actions  []string `json:"actions,omitempty"`
	Status   int      `json:"status"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Evidence string   `json:"evidence,omitempty"`
}

// Statement is something that a source says of an action, and whether it holds here.
type Statement struct {
	// Action is product and action, such as Slb/CreateLoadBalancer.
	Action string `json:"action"`
	ID     string `json:"id"`
	Class  string `json:"class"`
	Says   string `json:"says"`
	// Source is its title, date and kind.
	Source  string `json:"source"`
	Verdict string `json:"verdict" enum:"holds,differs,open,unchecked"`
	// Reason is why it does not hold, or has no case.
	Reason string `json:"reason,omitempty"`
}

// Cause is something for which calls are refused.
type Cause struct {
	About   string `json:"about"`
	Product string `json:"product"`
	Action  string `json:"action"`
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Message string `json:"message"`
	// Begin says what to do, with commands and calls between backticks.
	Begin string `json:"begin"`
	// End says what ends it.
	End string `json:"end"`
}

// Evidence is the source of a behaviour of the cloud.
type Evidence struct {
	ID         string `json:"id"`
	Claim      string `json:"claim"`
	Source     string `json:"source"`
	Confidence string `json:"confidence"`
	Date       string `json:"date"`
}
