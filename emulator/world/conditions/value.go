package conditions

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
)

// Value describes the values of a condition that do not depend on a world.
type Value struct {
	// Words are values that can be listed, for completion.
	Words []string
	check func(value string) error
}

// Check refuses a value that the condition never takes.
func (v Value) Check(value string) error {
	if v.check == nil || slices.Contains(v.Words, value) {
		return nil
	}
	return v.check(value)
}

// anything is a value that only a world, or the condition itself, can check.
var anything = Value{}

// oneOf takes some words alone.
func oneOf(words ...string) Value {
	last := len(words) - 1
	text := "want " + strings.Join(words[:last], ", ") + " or " + words[last]
	return Value{words, func(string) error { return errors.New(text) }}
}

// flag is true or false.
var flag = Value{[]string{"true", "false"}, func(value string) error {
	if _, err := strconv.ParseBool(value); err != nil {
		return errors.New("want true or false")
	}
	return nil
}}

// isTrue reads a flag that was checked.
func isTrue(value string) bool {
	b, _ := strconv.ParseBool(value)
	return b
}

func number(least, most int) Value {
	return Value{check: func(value string) error {
		if n, err := strconv.Atoi(value); err != nil || n < least || n > most {
			return fmt.Errorf("want a whole number from %d to %d", least, most)
		}
		return nil
	}}
}

var balance = Value{check: func(value string) error {
	_, err := resources.ParseBalance(value)
	return err
}}

// countOr takes a number that is not negative, or a word.
func countOr(word string) Value {
	return Value{[]string{word}, func(value string) error {
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return errors.New("want a number that is not negative, or " + word)
		}
		return nil
	}}
}

// lacks is an action, a parameter, or a parameter with a value.
var lacks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(=[^\s,=]+)?$`) })

// lacking is a list of what is not supported.
var lacking = Value{[]string{nothing}, func(value string) error {
	list := strings.Split(value, ",")
	for _, what := range list {
		if !lacks().MatchString(what) || what == nothing && len(list) > 1 {
			return errors.New("want actions, parameters or values, such as EnableHttp2,Scheduler=qch, or none")
		}
	}
	return nil
}}

var delay = Value{[]string{"default"}, func(value string) error {
	if d, err := time.ParseDuration(value); err != nil || d < 0 {
		return errors.New("want a duration, such as 2s, or default")
	}
	return nil
}}

var rate = Value{[]string{"default"}, func(value string) error {
	_, err := parseRate(value)
	return err
}}

var policy = Value{[]string{"none"}, func(value string) error {
	_, err := kinds.ParsePolicy(value)
	return err
}}
