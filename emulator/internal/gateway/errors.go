package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clbemu/clbemu/state"
)

// Problem is an error as the wire shows it.
type Problem struct {
	Status  int
	Code    string
	Message string
	// Evidence is the number of the entry with the source, "" if it is CLB-0005.
	Evidence string
	// Cause is for the log; the caller never sees it.
	Cause error

	denied *accessDeniedDetail
	// hint is for a person who calls by hand.
	hint string
}

func (p *Problem) Error() string {
	if p.Cause != nil {
		return fmt.Sprintf("%s: %s (%v)", p.Code, p.Message, p.Cause)
	}
	return p.Code + ": " + p.Message
}

func (p *Problem) Unwrap() error { return p.Cause }

// Missing returns the gateway's answer to an absent mandatory parameter: CLB-0012.
func Missing(parameter string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "Missing" + codeOf(parameter),
		Message: parameter + " is mandatory for this action."}
}

// Invalid returns the gateway's answer to a parameter of a wrong type, range or enum.
func Invalid(parameter string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "Invalid" + codeOf(parameter),
		Message: "Specified parameter " + parameter + " is not valid."}
}

// codeOf spells a parameter for a code: healthCheckInterval gives
// InvalidHealthCheckInterval.
func codeOf(parameter string) string {
	first, size := utf8.DecodeRuneInString(parameter)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + parameter[size:]
}

// The gateway's own refusals. Codes, messages and status are those of the cloud's
// common error table: CLB-0005.
var (
	problemMethod = &Problem{Status: http.StatusForbidden, Code: "UnsupportedHTTPMethod",
		Message: "This http method is not supported."}
	problemUnreadable = &Problem{Status: http.StatusBadRequest, Code: "InvalidParameter",
		Message: "Specified parameter is not valid."}
	// No public code says that a request is too large: CLB-0018.
	problemTooLarge = &Problem{Status: http.StatusRequestEntityTooLarge, Code: "RequestEntityTooLarge",
		Message: fmt.Sprintf("The request body must not exceed %d bytes.", MaxBody)}
	// Which limits the cloud has is not published: CLB-0022.
	problemBusy = &Problem{Status: http.StatusServiceUnavailable, Code: BusyCode,
		Message: "The request has failed due to a temporary failure of the server."}
	problemUnknownVersion = &Problem{Status: http.StatusBadRequest, Code: "InvalidVersion",
		Message: "Specified parameter Version is not valid."}
	problemUnknownRegion = &Problem{Status: http.StatusNotFound, Code: "InvalidRegionId.NotFound",
		Message: "The specified RegionId does not exist."}
	problemUnknownKey = &Problem{Status: http.StatusNotFound, Code: "InvalidAccessKeyId.NotFound",
		Message: "Specified access key is not found."}
	problemInactiveKey = &Problem{Status: http.StatusBadRequest, Code: "InvalidAccessKeyId.Inactive",
		Message: "Specified access key is disabled."}
	problemTimestampFormat = &Problem{Status: http.StatusBadRequest, Code: "InvalidTimeStamp.Format",
		Message: "Specified time stamp or date value is not well formatted."}
	problemTimestampExpired = &Problem{Status: http.StatusBadRequest, Code: "InvalidTimeStamp.Expired",
		Message: "Specified time stamp or date value is expired."}
	problemNonceUsed = &Problem{Status: http.StatusBadRequest, Code: "SignatureNonceUsed",
		Message: "Specified signature nonce was used already."}
	problemIncompleteSignature = &Problem{Status: http.StatusBadRequest, Code: "IncompleteSignature",
		Message: "The request signature does not conform to Aliyun standards."}
	problemTokenExpired = &Problem{Status: http.StatusBadRequest, Code: "InvalidSecurityToken.Expired",
		Message: "Specified SecurityToken is expired."}
	problemTokenMalformed = &Problem{Status: http.StatusBadRequest, Code: "InvalidSecurityToken.Malformed",
		Message: "Specified SecurityToken is malformed."}
	problemTokenMismatch = &Problem{Status: http.StatusBadRequest, Code: "InvalidSecurityToken.MismatchWithAccessKey",
		Message: "Specified SecurityToken mismatch with the AccessKey."}
)

// signatureMismatch carries the server's string to sign: the SDK compares it
// with its own to tell a wrong secret from a wrong canonicalisation. CLB-0010.
func signatureMismatch(stringToSign string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: "SignatureDoesNotMatch",
		Message: "Specified signature is not matched with our calculation. server string to sign is:" + stringToSign}
}

// forbiddenCaller refuses who may not call here; the cloud has no such thing.
func forbiddenCaller(reason string) *Problem {
	return &Problem{Status: http.StatusForbidden, Code: "Forbidden.Caller", Message: reason}
}

// BusyCode is the code of a call that finds no memory for its parameters. It says how
// busy clbemu is, so no behaviour of a client can be tested with it.
const BusyCode = "ServiceUnavailable"

// NotEmulatedCode is the code of the one error for what is not emulated.
const NotEmulatedCode = "InvalidAction.NotEmulated"

func notEmulated(action string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: NotEmulatedCode,
		Message: fmt.Sprintf("clbemu does not emulate %.100s; `clbemu actions` lists what it does.", action)}
}

// unknownAction refuses an action that is in no list of a product's: one that is misspelt, or
// that is younger or older than the list. Which it is can't be known: CLB-0526.
func unknownAction(product, action string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: NotEmulatedCode,
		Message: fmt.Sprintf("clbemu does not emulate %.100s, and knows no action of %s with that name; is it spelled right? `clbemu actions` lists what it does.", action, product)}
}

// unsupportedAlgorithm refuses a signature that the cloud takes and this does not,
// such as one by SM3.
func unsupportedAlgorithm(name string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: NotEmulatedCode,
		Message: fmt.Sprintf("clbemu does not emulate signatures by %.100s; sign by %s or by HMAC-SHA1.", name, acs3)}
}

func internalError(cause error) *Problem {
	p := &Problem{Status: http.StatusInternalServerError, Code: "InternalError",
		Message: "The request processing has failed due to some unknown error, exception or failure.", Cause: cause}
	if errors.Is(cause, state.ErrNotKept) {
		p.Message = "clbemu: " + cause.Error()
	}
	return p
}

// ErrorRow declares how a product words a fact on the wire.
type ErrorRow struct {
	Fact state.Fact
	// Kind restricts the row to facts about one kind; "" is any.
	Kind state.Kind
	// Actions restricts the row to actions. If nil, the row is for all.
	Actions []string
	Status  int
	Code    string
	// Message may hold one %s for the subject of the fact.
	Message string
	// Evidence is the number of the entry with the source.
	Evidence string
}

// ErrorTable turns facts into problems. The most particular row wins: by action
// and kind, by action, by kind, by fact alone.
type ErrorTable struct {
	rows   []ErrorRow
	lookup map[errorKey]*ErrorRow
}

type errorKey struct {
	action string
	kind   state.Kind
	fact   state.Fact
}

// NewErrorTable builds the table; two rows for one case are a programming error.
func NewErrorTable(rows ...ErrorRow) *ErrorTable {
	t := &ErrorTable{rows: rows, lookup: make(map[errorKey]*ErrorRow)}
	for i := range rows {
		actions := rows[i].Actions
		if actions == nil {
			actions = []string{""}
		}
		for _, action := range actions {
			key := errorKey{action, rows[i].Kind, rows[i].Fact}
			if _, twice := t.lookup[key]; twice {
				panic(fmt.Sprintf("gateway: two error rows for %+v", key))
			}
			t.lookup[key] = &rows[i]
		}
	}
	return t
}

// Rows returns the table's rows in the given order.
func (t *ErrorTable) Rows() []ErrorRow { return t.rows }

// Row finds the row for a fact.
func (t *ErrorTable) Row(action string, e *state.Error) (*ErrorRow, bool) {
	for _, key := range []errorKey{
		{action, e.Kind, e.Fact}, {action, "", e.Fact}, {"", e.Kind, e.Fact}, {"", "", e.Fact},
	} {
		if row, ok := t.lookup[key]; ok {
			return row, true
		}
	}
	return nil, false
}

// problem turns whatever a handler returned into what the wire shows.
func (t *ErrorTable) problem(action string, err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var fact *state.Error
	if !errors.As(err, &fact) {
		return internalError(err)
	}
	row, ok := t.Row(action, fact)
	if !ok {
		return internalError(fmt.Errorf("no error row for %s: %w", action, err))
	}
	message := row.Message
	if strings.Contains(message, "%s") {
		message = fmt.Sprintf(message, fact.ID)
	}
	return &Problem{Status: row.Status, Code: row.Code, Message: message, Evidence: row.Evidence, Cause: fact}
}
