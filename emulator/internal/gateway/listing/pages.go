package listing

import (
	"strings"

	"github.com/clbemu/clbemu/state"
)

// ByToken asks for the part of a list behind a token.
type ByToken struct {
	MaxResults int    `rpc:"MaxResults,min=1,max=100,default=20"`
	NextToken  string `rpc:"NextToken"`
}

// FewByToken is ByToken of a list that gives out at most 50 at a time.
type FewByToken struct {
	MaxResults int    `rpc:"MaxResults,min=1,max=50,default=20"`
	NextToken  string `rpc:"NextToken"`
}

// Paging says which part of a list an answer has.
type Paging struct {
	NextToken  string `rpc:"NextToken,omitempty"`
	MaxResults int    `rpc:"MaxResults"`
	TotalCount int    `rpc:"TotalCount"`
}

// Total returns the length of the whole list.
func (p Paging) Total() int { return p.TotalCount }

// Cut returns the requested part of a list.
func Cut[T any](all []T, ask ByToken, key func(T) string) ([]T, Paging, error) {
	part, next, err := After(all, ask.NextToken, ask.MaxResults, key)
	return part, Paging{next, ask.MaxResults, len(all)}, err
}

// InOrder is like Cut, for a list that an index has in the order of keys. A key is the last value
// of the index, a slash and the id. The cost does not grow with the list.
func InOrder[T any](v *state.View, x *state.Index[T], ask ByToken, key func(*T) string, values ...string) ([]*T, Paging, error) {
	last, err := Last(ask.NextToken)
	if err != nil {
		return nil, Paging{}, err
	}
	var after []string
	if last != "" {
		after = strings.SplitN(last, "/", 2)
	}
	part, all := x.Window(v, after, 0, ask.MaxResults+1, values...)
	page := Paging{MaxResults: ask.MaxResults, TotalCount: all}
	if len(part) > ask.MaxResults {
		part = part[:ask.MaxResults]
		page.NextToken = Token(key(part[len(part)-1]))
	}
	return part, page, nil
}

// ByNumber asks for a page of a list by its number.
type ByNumber struct {
	PageNumber int `rpc:"PageNumber,default=1,min=1"`
	PageSize   int `rpc:"PageSize,default=10,min=1,max=50"`
}

// Numbered describes an answer's page of a list, as the call asked for it: clients stop
// when PageNumber*PageSize reaches TotalCount.
type Numbered struct {
	TotalCount int `rpc:"TotalCount"`
	PageNumber int `rpc:"PageNumber"`
	PageSize   int `rpc:"PageSize"`
}

// Number returns a page of a list with the numbers that say which it is.
func Number[T any](all []T, number, size int) ([]T, Numbered) {
	return Page(all, number, size), Numbered{len(all), number, size}
}

// Ask asks for a page by its number, or for what follows a token.
type Ask struct {
	ByToken      bool
	Token        string
	Number, Size int
}

// AskBy chooses between number and token: a call that names MaxResults or NextToken
// pages by token.
func AskBy(token string, maxResults *int, number, size int) Ask {
	if maxResults == nil && token == "" {
		return Ask{Number: number, Size: size}
	}
	ask := Ask{ByToken: true, Token: token, Number: 1, Size: size}
	if maxResults != nil {
		ask.Size = *maxResults
	}
	return ask
}

// Either describes an answer's page or part of a list. PageSize is the requested size:
// CCM takes a smaller one for the last page; evidence CLB-0331.
type Either struct {
	Numbered
	NextToken string `rpc:"NextToken"`
}

// CutEither returns the requested elements of a list in order of key.
func CutEither[T any](all []T, key func(T) string, ask Ask) ([]T, Either, error) {
	if !ask.ByToken {
		part, page := Number(all, ask.Number, ask.Size)
		return part, Either{Numbered: page}, nil
	}
	part, next, err := After(all, ask.Token, ask.Size, key)
	return part, Either{Numbered{len(all), ask.Number, ask.Size}, next}, err
}
