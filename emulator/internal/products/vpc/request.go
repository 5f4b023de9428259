package vpc

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
)

// What is refused here.
var (
	errDryRunPassed = refusals.New("DryRunPassed", 400, "DryRunOperation",
		"Request validation has been passed with DryRun flag set.", "CLB-0300")
)

// timeLayout is how the API writes times.
const timeLayout = "2006-01-02T15:04:05Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// page is the paging of lists of up to 50 a page.
type page struct {
	PageNumber int `rpc:"PageNumber,default=1,min=1"`
	PageSize   int `rpc:"PageSize,default=10,min=1,max=50"`
}

// paged echoes the page that was asked for: clients stop asking when
// PageNumber*PageSize reaches TotalCount.
type paged struct {
	TotalCount int `rpc:"TotalCount"`
	PageNumber int `rpc:"PageNumber"`
	PageSize   int `rpc:"PageSize"`
}

// cut returns the elements of a page with the numbers that say which it is.
func cut[T any](all []T, p page) ([]T, paged) {
	return listing.Page(all, p.PageNumber, p.PageSize), paged{TotalCount: len(all), PageNumber: p.PageNumber, PageSize: p.PageSize}
}

// dryRun ends a call that only asks whether it would succeed. As the answer is an
// error, what the handler did until here is rolled back.
func dryRun(asked bool) error {
	if asked {
		return errDryRunPassed
	}
	return nil
}

// matches reports whether a filter lets a value pass; an empty one lets any.
func matches(filter, value string) bool { return filter == "" || filter == value }

// maxIDs is how many ids a comma list of a Describe holds.
const maxIDs = 20

// listed is matches for a comma list of values.
func listed(filter, value string) bool {
	return filter == "" || slices.Contains(strings.Split(filter, ","), value)
}

// tooMany reports whether a comma list has more values than a call takes.
func tooMany(filter string, limit int) bool { return strings.Count(filter, ",")+1 > limit }

// ownedBy is matches for a filter by account.
func ownedBy(filter *int64, accountID string) bool {
	return filter == nil || strconv.FormatInt(*filter, 10) == accountID
}

// ownerID is an account as the number that responses have.
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
