package gateway

// GatewayCodes returns the codes with which the gateway itself refuses calls of any action, or
// marks answers that a fault rule took away.
func GatewayCodes() []string {
	problems := []*Problem{
		problemMethod, problemUnreadable, problemTooLarge, problemUnknownVersion, problemUnknownRegion,
		problemUnknownKey, problemInactiveKey, problemTimestampFormat, problemTimestampExpired, problemNonceUsed,
		problemIncompleteSignature, problemTokenExpired, problemTokenMalformed, problemTokenMismatch, signatureMismatch(""), forbiddenCaller(""),
		problemThrottledKey, problemThrottledAction, problemThrottledAccount, &problemLost, internalError(nil),
	}
	codes := make([]string, len(problems))
	for i, p := range problems {
		codes[i] = p.Code
	}
	return codes
}
