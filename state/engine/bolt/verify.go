package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// bbolt believes its file: a page that points elsewhere makes it read outside of
// the file, a free page that is in use is overwritten later. So the file is
// walked once before it is opened, by its format and without bbolt: every page
// below the high-water mark must be one of the meta pages, the list of free
// pages, a free page, or reached from the root exactly once, with its keys in
// order and within its bounds. Checksums guard the values.

const (
	pageHeader    = 16
	metaSize      = 64
	branchElement = 16
	leafElement   = 16
	bucketHeader  = 16

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	bucketFlag = 0x01

	noFreelist = ^uint64(0)
	manyFree   = 0xFFFF // the count is the first element
)

var native = binary.NativeEndian

// metaPage holds the fields of a meta page.
type metaPage struct {
	pageSize uint32
	root     uint64
	freelist uint64
	pages    uint64 // the high-water mark
	txid     uint64
	valid    bool
}

func parseMeta(page []byte) metaPage {
	b := page[pageHeader:]
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSize-8]) // it never fails
	return metaPage{
		pageSize: native.Uint32(b[8:]),
		root:     native.Uint64(b[16:]),
		freelist: native.Uint64(b[32:]),
		pages:    native.Uint64(b[40:]),
		txid:     native.Uint64(b[48:]),
		valid:    native.Uint64(b[56:]) == sum.Sum64(),
	}
}

// walker walks one file.
type walker struct {
	file  io.ReaderAt
	meta  metaPage
	taken []bool // pages of known use
}

// verify returns what is wrong with the file's structure. No process may be writing.
func verify(path string, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	w := &walker{file: file}
	if err := w.findMeta(info.Size()); err != nil {
		return damaged(path, err.Error())
	}
	if int64(w.meta.pages)*int64(w.meta.pageSize) > info.Size() {
		return truncated(path, info.Size())
	}
	if err := w.walk(); err != nil {
		return damaged(path, err.Error())
	}
	return nil
}

// findMeta takes the newer of the two meta pages. A bad one is passed over only
// when it is known to be the older one: going back to that would lose what was
// acknowledged.
func (w *walker) findMeta(size int64) error {
	first := make([]byte, pageHeader+metaSize)
	if _, err := w.file.ReadAt(first, 0); err != nil {
		return err
	}
	a := parseMeta(first)
	pageSize := a.pageSize
	if !a.valid {
		pageSize = uint32(os.Getpagesize())
	}
	second := make([]byte, pageHeader+metaSize)
	if _, err := w.file.ReadAt(second, int64(pageSize)); err != nil {
		return err
	}
	b := parseMeta(second)
	if b.valid && (!a.valid || b.txid > a.txid) {
		a, b, second = b, a, first
	}
	newest := bytes.Clone(second)
	native.PutUint64(newest[pageHeader+48:], a.txid+1)
	switch {
	case !a.valid:
		return errors.New("both of its meta pages are bad")
	case !b.valid && (b.txid != a.txid-1 || parseMeta(newest).valid): // where only its number is bad
		return errors.New("the meta page of its newest transaction is bad")
	case a.pageSize < 1024 || a.pageSize&(a.pageSize-1) != 0 || a.pages > uint64(size):
		return fmt.Errorf("its pages have %d bytes", a.pageSize)
	}
	w.meta = a
	w.taken = make([]bool, min(a.pages, uint64(size)/uint64(a.pageSize)))
	return nil
}

func (w *walker) walk() error {
	for n := range 2 {
		w.taken[n] = true
	}
	if err := w.free(); err != nil {
		return err
	}
	if _, err := w.subtree(w.meta.root, nil, nil, w.bucket); err != nil {
		return err
	}
	for n, taken := range w.taken {
		if !taken {
			return fmt.Errorf("page %d is neither free nor in use", n)
		}
	}
	return nil
}

// page is one page with what overflows it.
type page struct {
	id    uint64
	flags uint16
	count int
	body  []byte // with the header
}

// read takes a page into use.
func (w *walker) read(id uint64) (page, error) {
	if id < 2 || id >= uint64(len(w.taken)) {
		return page{}, fmt.Errorf("there is no page %d", id)
	}
	size := int64(w.meta.pageSize)
	header := make([]byte, pageHeader)
	if _, err := w.file.ReadAt(header, int64(id)*size); err != nil {
		return page{}, err
	}
	p := page{id: id, flags: native.Uint16(header[8:]), count: int(native.Uint16(header[10:]))}
	overflow := uint64(native.Uint32(header[12:]))
	if native.Uint64(header) != id || overflow >= uint64(len(w.taken))-id {
		return page{}, fmt.Errorf("page %d has a bad header", id)
	}
	for n := id; n <= id+overflow; n++ {
		if err := w.take(n); err != nil {
			return page{}, err
		}
	}
	p.body = make([]byte, (int64(overflow)+1)*size)
	_, err := w.file.ReadAt(p.body, int64(id)*size)
	return p, err
}

func (w *walker) take(n uint64) error {
	if n < 2 || n >= uint64(len(w.taken)) {
		return fmt.Errorf("there is no page %d", n)
	}
	if w.taken[n] {
		return fmt.Errorf("page %d is used twice", n)
	}
	w.taken[n] = true
	return nil
}

// free takes the pages of the list of free ones.
func (w *walker) free() error {
	if w.meta.freelist == noFreelist {
		return errors.New("it has no list of free pages")
	}
	p, err := w.read(w.meta.freelist)
	if err != nil {
		return fmt.Errorf("the list of free pages: %w", err)
	}
	ids := p.body[pageHeader:]
	count := uint64(p.count)
	if count == manyFree {
		count, ids = native.Uint64(ids), ids[8:]
	}
	if p.flags != freelistPage || count > uint64(len(ids)/8) {
		return errors.New("the list of free pages has a bad header")
	}
	for i := range count {
		if err := w.take(native.Uint64(ids[8*i:])); err != nil {
			return fmt.Errorf("the list of free pages: %w", err)
		}
	}
	return nil
}

// subtree walks a page and all below it. Keys must lie from first, which is the
// page's own first key where given, up to and without end. It returns the last
// key.
func (w *walker) subtree(id uint64, first, end []byte, leaf func(page) ([][]byte, error)) ([]byte, error) {
	p, err := w.read(id)
	if err != nil {
		return nil, err
	}
	switch p.flags {
	case leafPage:
		keys, err := leaf(p)
		if err != nil {
			return nil, err
		}
		return inBounds(p.id, keys, first, end)
	case branchPage:
		return w.branch(p, first, end, leaf)
	default:
		return nil, fmt.Errorf("page %d has an unknown type", p.id)
	}
}

func (w *walker) branch(p page, first, end []byte, leaf func(page) ([][]byte, error)) ([]byte, error) {
	keys := make([][]byte, p.count)
	children := make([]uint64, p.count)
	for i := range p.count {
		at := pageHeader + i*branchElement
		if at+branchElement > len(p.body) {
			return nil, fmt.Errorf("page %d holds less than it says", p.id)
		}
		e := p.body[at:]
		key, err := cut(e, uint64(native.Uint32(e)), uint64(native.Uint32(e[4:])))
		if err != nil {
			return nil, fmt.Errorf("page %d, key %d: %w", p.id, i, err)
		}
		keys[i], children[i] = key, native.Uint64(e[8:])
	}
	last, err := inBounds(p.id, keys, first, end)
	for i, child := range children {
		if err != nil {
			return nil, err
		}
		upTo := end
		if i+1 < len(keys) {
			upTo = keys[i+1]
		}
		last, err = w.subtree(child, keys[i], upTo, leaf)
	}
	return last, err
}

// inBounds holds keys against their order and the bounds of their page.
func inBounds(id uint64, keys [][]byte, first, end []byte) ([]byte, error) {
	if len(keys) == 0 {
		if first != nil {
			return nil, fmt.Errorf("page %d is empty", id)
		}
		return nil, nil
	}
	for i := 1; i < len(keys); i++ {
		if bytes.Compare(keys[i-1], keys[i]) >= 0 {
			return nil, fmt.Errorf("page %d has its keys out of order", id)
		}
	}
	last := keys[len(keys)-1]
	if first != nil && !bytes.Equal(first, keys[0]) || end != nil && bytes.Compare(last, end) >= 0 {
		return nil, fmt.Errorf("page %d has keys of another place", id)
	}
	return last, nil
}

// element is a key with its value in a leaf.
type element struct {
	flags      uint32
	key, value []byte
}

func elements(id uint64, count int, body []byte) ([]element, error) {
	list := make([]element, count)
	for i := range count {
		at := pageHeader + i*leafElement
		if at+leafElement > len(body) {
			return nil, fmt.Errorf("page %d holds less than it says", id)
		}
		e := body[at:]
		pos, ksize := uint64(native.Uint32(e[4:])), uint64(native.Uint32(e[8:]))
		key, err := cut(e, pos, ksize)
		if err == nil {
			list[i] = element{flags: native.Uint32(e), key: key}
			list[i].value, err = cut(e, pos+ksize, uint64(native.Uint32(e[12:])))
		}
		if err != nil {
			return nil, fmt.Errorf("page %d, element %d: %w", id, i, err)
		}
	}
	return list, nil
}

// cut returns part of a page, counted from an element of it.
func cut(b []byte, pos, size uint64) ([]byte, error) {
	if pos+size > uint64(len(b)) {
		return nil, errors.New("it lies outside of the page")
	}
	return b[pos : pos+size], nil
}

// values returns the keys of a leaf of a table.
func (w *walker) values(p page) ([][]byte, error) { return leafKeys(p.id, p.count, p.body, 0, nil) }

// bucket returns the keys of a leaf of the root, whose elements are the tables.
func (w *walker) bucket(p page) ([][]byte, error) {
	return leafKeys(p.id, p.count, p.body, bucketFlag, w.table)
}

// leafKeys returns the keys of a leaf whose elements must all have the flags.
func leafKeys(id uint64, count int, body []byte, flags uint32, each func(page uint64, value []byte) error) ([][]byte, error) {
	list, err := elements(id, count, body)
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, len(list))
	for i, e := range list {
		if e.flags != flags {
			return nil, fmt.Errorf("page %d, element %d has another kind than it should", id, i)
		}
		if each != nil {
			if err := each(id, e.value); err != nil {
				return nil, err
			}
		}
		keys[i] = e.key
	}
	return keys, nil
}

// table walks a bucket: from its root, or, while it is small, within the value
// that stands for it.
func (w *walker) table(id uint64, value []byte) error {
	if len(value) < bucketHeader {
		return fmt.Errorf("page %d holds less than it says", id)
	}
	if root := native.Uint64(value); root != 0 {
		_, err := w.subtree(root, nil, nil, w.values)
		return err
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeader || native.Uint16(inline[8:]) != leafPage {
		return fmt.Errorf("page %d holds a table that is none", id)
	}
	keys, err := leafKeys(id, int(native.Uint16(inline[10:])), inline, 0, nil)
	if err == nil {
		_, err = inBounds(id, keys, nil, nil)
	}
	return err
}
