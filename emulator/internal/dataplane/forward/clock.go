package forward

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Clock measures the time for which listeners wait: for idle connections, silent members
// and drains. What the machine does, such as connecting, takes the machine's own time.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once d has passed, unless stop comes first. f must not block.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
	// Real returns how long d takes on the machine's clock.
	Real(d time.Duration) time.Duration
}

// MachineClock is the clock of the machine.
type MachineClock struct{}

var _ Clock = MachineClock{}

// Now implements Clock.
func (MachineClock) Now() time.Time { return time.Now() }

// AfterFunc implements Clock.
func (MachineClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// Real implements Clock.
func (MachineClock) Real(d time.Duration) time.Duration { return d }

// leastWait is the least time that a client or member has, on the machine's clock: a clock that
// runs fast does not make the machine faster.
const leastWait = 200 * time.Millisecond

// atLeastWait returns a time of the clock that is not over before leastWait.
func atLeastWait(c Clock, d time.Duration) time.Duration {
	if real := c.Real(time.Second); real > 0 && real < time.Second {
		d = max(d, time.Duration(float64(leastWait)*float64(time.Second)/float64(real)))
	}
	return d
}

// An alarm does something at a time that may move often, at little cost. New ones come
// from newAlarm.
type alarm struct {
	clock Clock
	do    func() // with mu held

	mu   sync.Mutex
	at   time.Time // zero while it is off
	wake time.Time // when it looks next, zero for never
	stop func() bool
}

func newAlarm(c Clock, do func()) *alarm { return &alarm{clock: c, do: do} }

// in moves the alarm to d from now.
func (a *alarm) in(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.move(d)
}

// move is like in. The caller holds mu.
func (a *alarm) move(d time.Duration) {
	d = atLeastWait(a.clock, d)
	a.at = a.clock.Now().Add(d)
	if a.wake.IsZero() || a.at.Before(a.wake) {
		a.sleep(d)
	}
}

// off turns the alarm off.
func (a *alarm) off() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Time{}
}

// end turns the alarm off for good, and frees what it has.
func (a *alarm) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at, a.wake = time.Time{}, time.Time{}
	if a.stop != nil {
		a.stop()
	}
}

// sleep lets the alarm look after d. The caller holds mu.
func (a *alarm) sleep(d time.Duration) {
	if a.stop != nil {
		a.stop()
	}
	wake := a.clock.Now().Add(d)
	a.wake = wake
	a.stop = a.clock.AfterFunc(d, func() { a.fire(wake) })
}

// fire rings, or sleeps on if the alarm was moved since.
func (a *alarm) fire(wake time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wake != wake { // another look is to come
		return
	}
	a.wake = time.Time{}
	if a.at.IsZero() {
		return
	}
	if left := a.at.Sub(a.clock.Now()); left > 0 {
		a.sleep(left)
		return
	}
	a.at = time.Time{}
	a.do()
}

// A watch ends what is idle for a time. To note that it is not costs little.
type watch struct {
	clock   Clock
	timeout time.Duration
	end     func()
	start   time.Time
	last    atomic.Int64 // when it was not idle, since start

	mu    sync.Mutex
	over  bool
	sleep func() bool // stops it
}

// newWatch calls end once touch was not called for the timeout, unless stop comes first.
func newWatch(c Clock, timeout time.Duration, end func()) *watch {
	w := &watch{clock: c, timeout: timeout, end: end, start: c.Now()}
	w.checkIdle()
	return w
}

func (w *watch) touch() { w.last.Store(int64(w.clock.Now().Sub(w.start))) }

// checkIdle ends what was idle for long enough, or looks again when it may be.
func (w *watch) checkIdle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	left := atLeastWait(w.clock, w.timeout) - (w.clock.Now().Sub(w.start) - time.Duration(w.last.Load()))
	if left <= 0 {
		w.over = true
		w.end()
		return
	}
	w.sleep = w.clock.AfterFunc(left, w.checkIdle)
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.sleep()
}

// A deadlineConn keeps the deadline of its reads by a clock.
type deadlineConn struct {
	net.Conn
	alarm *alarm
	rang  atomic.Bool // the deadline has passed
}

func newDeadlineConn(c net.Conn, clock Clock) *deadlineConn {
	d := &deadlineConn{Conn: c}
	d.alarm = newAlarm(clock, func() {
		d.rang.Store(true)
		c.SetReadDeadline(past)
	})
	return d
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// SetReadDeadline takes the time until t as time of the clock. A time that has passed only
// interrupts a read: net/http ends its reads so, and the other side is not late by that.
func (c *deadlineConn) SetReadDeadline(t time.Time) error {
	c.alarm.mu.Lock()
	defer c.alarm.mu.Unlock()
	c.rang.Store(false)
	left := time.Until(t)
	if t.IsZero() || left <= 0 {
		c.alarm.at = time.Time{}
		return c.Conn.SetReadDeadline(t)
	}
	c.alarm.move(left)
	return c.Conn.SetReadDeadline(time.Time{})
}

// SetDeadline does so for reads; writes have the machine's time.
func (c *deadlineConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Close closes the connection.
func (c *deadlineConn) Close() error {
	c.alarm.end()
	return c.Conn.Close()
}
