package vpc

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

// maxIDs limits the ids in a comma list of a Describe.
const maxIDs = 20

// listed is like listing.Matches, for a comma list of values.
func listed(filter, value string) bool {
	return filter == "" || slices.Contains(strings.Split(filter, ","), value)
}

// tooMany reports whether a comma list has more values than a call takes.
func tooMany(filter string, limit int) bool { return strings.Count(filter, ",")+1 > limit }

// ownedBy is like listing.Matches, for a filter by account.
func ownedBy(filter *int64, accountID string) bool {
	return filter == nil || strconv.FormatInt(*filter, 10) == accountID
}

// ownerID returns an account as the number that responses have.
func ownerID(accountID string) int64 {
	id, err := strconv.ParseInt(accountID, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// plainText refuses names and descriptions that begin like an address.
func plainText(text string, refusal gateway.Refusal) error {
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		return refusal
	}
	return nil
}
