package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/journal"
)

// answerOf returns the journal's record of the answer of an entry.
func answerOf(t *testing.T, j *journal.Journal, sequence int) string {
	t.Helper()
	page := j.Query(journal.Query{Fields: map[string]string{"sequence": fmt.Sprint(sequence)}})
	if len(page.Entries) != 1 {
		t.Fatalf("there are %d entries %d", len(page.Entries), sequence)
	}
	return page.Entries[0].Answer
}

// TestAnswers proves that the answer of a call is there when it alone is asked for, without
// secrets, and that what is kept of answers is bounded.
func TestAnswers(t *testing.T) {
	j, err := journal.New(journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ä", 3<<10)
	for sequence, test := range []struct{ answer, want string }{
		{`{"TotalCount":1}`, `{"TotalCount":1}`},
		{long, long[:4092] + "…"},
		{`{"Credentials":{"AccessKeyId":"STS.a","AccessKeySecret":"b","SecurityToken":"c"}}`, journal.Hidden},
		{"<SecurityToken>c</SecurityToken>", journal.Hidden},
		{`{"Description":"-----BEGIN RSA PRIVATE KEY-----"}`, journal.Hidden},
		{`{"Message":"Specified signature nonce was used already."}`, `{"Message":"Specified signature nonce was used already."}`},
		{"", ""},
	} {
		j.RecordCall(journal.Entry{Kind: journal.KindCall, Action: "A"}, []byte(test.answer))
		if got := answerOf(t, j, sequence+1); got != test.want {
			t.Errorf("the answer %.80q is kept as %.80q, want %.80q", test.answer, got, test.want)
		}
	}
	j.Record(journal.Entry{Kind: journal.KindCall, Action: "A", Answer: "a"})
	for _, e := range j.Query(journal.Query{}).Entries {
		if e.Answer != "" {
			t.Errorf("a list has the answer %.80q", e.Answer)
		}
	}
	for range 400 {
		j.RecordCall(journal.Entry{Kind: journal.KindCall, Action: "B"}, bytes.Repeat([]byte("b"), 4<<10))
	}
	kept := 0
	for sequence := 9; sequence <= 408; sequence++ {
		kept += len(answerOf(t, j, sequence))
	}
	if got := answerOf(t, j, 1); got != "" || kept > 1<<20 || kept < 1<<20-4<<10 || answerOf(t, j, 408) == "" {
		t.Errorf("%d bytes of answers are kept, and of the oldest %q, want 1 MiB of the newest", kept, got)
	}
	j.Clear()
	j.RecordCall(journal.Entry{Kind: journal.KindCall, Action: "C"}, []byte("c"))
	if got := answerOf(t, j, 409); got != "c" {
		t.Errorf("after clearing, the answer is %q", got)
	}
}

// TestAnswersMemory proves that answers of all lengths are kept whole, the newest, in
// bounded memory that new answers take over from old ones.
func TestAnswersMemory(t *testing.T) {
	j, err := journal.New(journal.Config{})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	answer := func(sequence, length int) []byte {
		return bytes.Repeat([]byte(fmt.Sprintf("%08d", sequence)), length)
	}
	const calls = 3000
	lengths := make([]int, calls+1)
	for sequence := 1; sequence <= calls; sequence++ {
		lengths[sequence] = 1 + random.IntN(512>>(random.IntN(3)*4))
		j.RecordCall(journal.Entry{Kind: journal.KindCall}, answer(sequence, lengths[sequence]))
	}
	kept, gone := 0, 0
	for sequence := calls; sequence > 0 && gone < 20; sequence-- {
		got := answerOf(t, j, sequence)
		if got == "" {
			gone++
		} else if gone > 0 || got != string(answer(sequence, lengths[sequence])) {
			t.Fatalf("the answer of %d, %d bytes, is kept as %.40q", sequence, 8*lengths[sequence], got)
		}
		kept += len(got)
	}
	if kept > 1<<20 || kept < 1<<18 {
		t.Errorf("%d bytes of answers are kept, want up to 1 MiB", kept)
	}
	reply := answer(calls, 150)
	if allocated := testing.AllocsPerRun(2000, func() { j.RecordCall(journal.Entry{Kind: journal.KindCall}, reply) }); allocated > 1 {
		t.Errorf("recording an answer like those before it allocates %.1f times, want once for the entry", allocated)
	}
}
