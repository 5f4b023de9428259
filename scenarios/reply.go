package scenarios

import (
	"errors"
	"fmt"
	"strings"
)

// Reply is the expected answer. Without status, code and lost, the answer must be a
// success.
type Reply struct {
	Status  int                `yaml:"status" doc:"The HTTP status."`
	Code    *Matcher           `yaml:"code" doc:"The error code; OK for a success."`
	Message *Matcher           `yaml:"message" doc:"The error message."`
	Fields  map[string]Matcher `yaml:"fields" doc:"Fields by path, such as Listeners.0.Status."`
	Lost    bool               `yaml:"lost" doc:"true: the client must get no readable answer."`
}

func (r *Reply) Validate() error {
	if r.Status != 0 && (r.Status < 200 || r.Status > 599) {
		return fmt.Errorf("status: no answer has the status %d", r.Status)
	}
	if r.Lost && (r.Status != 0 || r.Code != nil || r.Message != nil || len(r.Fields) > 0) {
		return errors.New("an answer that is lost has no status, code, message or fields")
	}
	return nil
}

// refused reports whether a refusal is expected, or no answer.
func (r *Reply) refused() bool {
	return r != nil && (r.Lost || r.Status >= 300 || r.Code != nil && !r.Code.ofSuccess())
}

// compare holds an answer against what is expected; nil expects success.
func (r *Reply) compare(answer Answer) *difference {
	if r == nil {
		r = &Reply{}
	}
	if r.Lost || answer.Lost != "" {
		if r.Lost && answer.Lost != "" {
			return nil
		}
		return answer.differs(r)
	}
	refused := r.Code != nil && !r.Code.ofSuccess()
	wrong := r.Status != 0 && answer.Status != r.Status || r.Status == 0 && refused == answer.succeeded()
	code := ""
	if !answer.succeeded() {
		code = fmt.Sprint(answer.Body["Code"])
	}
	message, hasMessage := answer.Body["Message"]
	wrong = wrong || r.Code != nil && !r.Code.ofCode(code) || r.Message != nil && !r.Message.holds(message, hasMessage)
	if wrong {
		return answer.differs(r)
	}
	return compare(answer.Body, r.Fields)
}

// differs is the difference between an answer and the one that is expected.
func (a Answer) differs(r *Reply) *difference {
	d := &difference{expected: r.String(), seen: a.String()}
	if a.Lost == "" && !a.succeeded() {
		d.code = fmt.Sprint(a.Body["Code"])
	}
	return d
}

func (a Answer) succeeded() bool { return a.Status >= 200 && a.Status < 300 }

func (a Answer) String() string {
	switch {
	case a.Lost != "":
		return "no answer: " + a.Lost
	case a.succeeded():
		return fmt.Sprintf("success (%d)", a.Status)
	}
	return fmt.Sprintf("%d %v: %v", a.Status, a.Body["Code"], a.Body["Message"])
}

func (r *Reply) String() string {
	if r.Lost {
		return "no answer"
	}
	var parts []string
	if r.Status != 0 {
		parts = append(parts, fmt.Sprintf("status %d", r.Status))
	}
	if r.Code != nil {
		parts = append(parts, "code "+r.Code.String())
	}
	if r.Message != nil {
		parts = append(parts, "message "+r.Message.String())
	}
	if parts == nil {
		return "success"
	}
	return strings.Join(parts, ", ")
}
