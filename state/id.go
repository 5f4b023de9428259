package state

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Sequence is the source of ids and randomness: the n-th draw of a seed is always the
// same, and no draw repeats, not even after a restart.
type Sequence struct {
	ID   string
	Seed uint64
	Next uint64
}

// Sequences holds the only sequence.
var Sequences = NewTable(kernel, "Sequence", func(s *Sequence) string { return s.ID }, Setting(),
	Checks(func(c *Checker, s *Sequence) {
		if s.Next > maxNext {
			c.Fail("Sequence %s is at %d, want at most %d", s.ID, s.Next, uint64(maxNext))
		}
	}))

const (
	sequenceID = "ids"
	// maxNext is farther than any store gets, and leaves room before the number begins
	// again at 0.
	maxNext = 1 << 62
)

// seed gives a store that has none its sequence, with the first of its changes.
func (tx *Tx) seed(seed uint64) {
	if _, ok := Sequences.Find(tx.View, sequenceID); !ok {
		Sequences.Put(tx, &Sequence{ID: sequenceID, Seed: seed})
	}
}

func (tx *Tx) sequence() *Sequence {
	current, ok := Sequences.Find(tx.View, sequenceID)
	if !ok {
		panic("state: the store has no sequence")
	}
	return current
}

// drawsPerSecond is more than any store makes.
const drawsPerSecond = 1 << 20

// freshDraws moves the sequence of a store that other processes wrote to draws that nothing can
// have made before now: the kept state may be an older copy, and ids that were given since must not
// be given again. A new store has drawn nothing yet, and starts from its seed.
func (tx *Tx) freshDraws(now time.Time) {
	current := tx.sequence()
	if from := uint64(max(now.Unix(), 0)) * drawsPerSecond; current.Next > 0 && current.Next < from {
		next := *current
		next.Next = from
		Sequences.Put(tx, &next)
	}
}

// Draw returns the next 32 random bytes of the sequence.
func (tx *Tx) Draw() [sha256.Size]byte {
	current := tx.sequence()
	next := *current
	next.Next++
	Sequences.Put(tx, &next)
	return current.draw(current.Next)
}

// draw returns the n-th draw of the seed.
func (s *Sequence) draw(n uint64) [sha256.Size]byte {
	var in [16]byte
	binary.BigEndian.PutUint64(in[:8], s.Seed)
	binary.BigEndian.PutUint64(in[8:], n)
	return sha256.Sum256(in[:])
}

// regionCodes maps regions to the code behind the prefix of an id, as seen in the ids
// of the cloud's documentation. Other regions get a code made from their name.
var regionCodes = map[string]string{
	"cn-hangzhou":    "bp1",
	"cn-shanghai":    "uf6",
	"cn-beijing":     "2ze",
	"cn-shenzhen":    "wz9",
	"cn-qingdao":     "m5e",
	"cn-zhangjiakou": "8vb",
	"cn-hongkong":    "j6c",
	"ap-southeast-1": "t4n",
	"us-west-1":      "rj9",
	"us-east-1":      "0xi",
	"eu-central-1":   "gw8",
}

func regionCode(region string) string {
	if code, ok := regionCodes[region]; ok {
		return code
	}
	sum := sha256.Sum256([]byte(region))
	return base36(sum[:], regionCodeLength)
}

const regionCodeLength = 3

// base36 spells bytes as n digits and lower-case letters.
func base36(b []byte, n int) string {
	text := new(big.Int).SetBytes(b).Text(36)
	return text[len(text)-n:]
}

// idForm describes how the cloud spells the ids of a kind.
type idForm struct {
	prefix string
	length int // of what follows the region's code
}

// mint draws until what it spells is the id of no row, whosever: a new row never
// overwrites another.
func (tx *Tx) mint(kind Kind, spell func(chance []byte) string) string {
	k, ok := tx.schema.kinds[kind]
	if !ok {
		panic(fmt.Sprintf("state: there is no kind %s", kind))
	}
	for {
		chance := tx.Draw()
		id := spell(chance[:])
		if _, taken := tx.txn.get(k.position, id); !taken {
			return id
		}
	}
}

// NewID mints an id in the cloud's form, such as lb-bp1… in cn-hangzhou, or returns the
// one given to the transaction.
func (tx *Tx) NewID(kind Kind) string {
	if id, ok := tx.given[kind]; ok {
		delete(tx.given, kind)
		return id
	}
	k, ok := tx.schema.kinds[kind]
	if !ok || k.form == nil {
		panic(fmt.Sprintf("state: no form for the ids of %s", kind))
	}
	return tx.mint(kind, func(chance []byte) string {
		return k.form.prefix + regionCode(tx.scope.RegionID) + base36(chance, k.form.length)
	})
}

// NextUUID mints the UUID of a new row. Its first digits count up from the
// table's last row, so that rows made in turn lie side by side, on few pages
// of the disk. It draws nothing from the sequence, which would be a second row to keep;
// the rest is chance by the seed, the number and the time.
func NextUUID[T any](tx *Tx, t *Table[T]) string {
	digits, _, _ := strings.Cut(t.last(tx.View), "-")
	number, _ := strconv.ParseUint(digits, 16, 32) // of rows imported under other ids: 0
	for {
		number++
		id := tx.uuid(uint32(number))
		if _, taken := tx.txn.get(t.declared.position, id); !taken {
			return id
		}
	}
}

// uuid spells a number and chance.
func (tx *Tx) uuid(number uint32) string {
	chance := rand.NewPCG(tx.sequence().Seed+uint64(number), uint64(tx.now.Unix())<<30+uint64(tx.now.Nanosecond()))
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], chance.Uint64())
	binary.BigEndian.PutUint64(id[8:], chance.Uint64())
	binary.BigEndian.PutUint32(id[:], number)
	var spelled [36]byte
	at := 0
	for _, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if at > 0 {
			spelled[at] = '-'
			at++
		}
		at += hex.Encode(spelled[at:], part)
	}
	return string(spelled[:])
}

// NewCertificateID mints <account>_<hex>_<number>_<number>, the form of the ids
// of server and CA certificates.
func (tx *Tx) NewCertificateID(kind Kind) string {
	number := func(b []byte) string {
		return strconv.FormatInt(int64(int32(binary.BigEndian.Uint32(b))), 10)
	}
	return tx.mint(kind, func(chance []byte) string {
		return tx.scope.AccountID + "_" + hex.EncodeToString(chance[:6])[1:] + "_" + number(chance[6:]) + "_" + number(chance[10:])
	})
}

// NewCertificateNumber mints the number of a certificate of the certificate service:
// eight digits. It is the id of its row.
func (tx *Tx) NewCertificateNumber(kind Kind) (number int64) {
	tx.mint(kind, func(chance []byte) string {
		number = 1e7 + int64(binary.BigEndian.Uint64(chance)%9e7)
		return strconv.FormatInt(number, 10)
	})
	return number
}

// NewSecretID mints an id that is as hard to guess as the seed: n digits and letters
// behind a prefix.
func (tx *Tx) NewSecretID(kind Kind, prefix string, n int) string {
	return tx.mint(kind, func(chance []byte) string { return prefix + base36(chance, n) })
}

// NewSecret mints a string that is as hard to guess as the seed: n digits and
// letters, at most 40.
func (tx *Tx) NewSecret(n int) string {
	chance := tx.Draw()
	return base36(chance[:], n)
}

// NewOrderID mints the number of a purchase: twelve digits.
func (tx *Tx) NewOrderID() int64 {
	chance := tx.Draw()
	return 2e11 + int64(binary.BigEndian.Uint64(chance[:])%1e11)
}
