package listen

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// oneConn is a listener with one connection.
type oneConn struct {
	net.Conn
	given chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if l.given == nil {
		l.given = make(chan struct{})
		return l.Conn, nil
	}
	<-l.given
	return nil, net.ErrClosed
}

func (l *oneConn) Addr() net.Addr { return l.LocalAddr() }

func (l *oneConn) Close() error {
	close(l.given)
	return nil
}

// serveOne serves a handler to one client, in a bubble.
func serveOne(t *testing.T, handler http.HandlerFunc) (client net.Conn) {
	t.Helper()
	client, conn := net.Pipe()
	s := newHTTP(context.Background(), zerolog.Nop())
	s.Handler = inTime(handler)
	go func() { _ = s.Serve(&oneConn{Conn: conn}) }()
	t.Cleanup(func() {
		client.Close()
		_ = s.Close()
	})
	return client
}

// TestClientThatDoesNotRead proves that an answer that the client does not read is dropped,
// and that one which is taken slowly arrives, however long that takes.
func TestClientThatDoesNotRead(t *testing.T) {
	answer := bytes.Repeat([]byte("x"), 10<<20)
	for _, reads := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 1)
			client := serveOne(t, func(w http.ResponseWriter, _ *http.Request) {
				time.Sleep(time.Hour) // which a fault may take
				_, err := w.Write(answer)
				ended <- err
			})
			if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if !reads {
				start := time.Now()
				if err := <-ended; err == nil || time.Since(start) < time.Hour || time.Since(start) > time.Hour+2*time.Minute {
					t.Errorf("the answer ended after %s with %v, want it to be given up after an hour and some seconds", time.Since(start), err)
				}
				return
			}
			total := 0
			for piece := make([]byte, 1<<20); ; {
				time.Sleep(10 * time.Second)
				n, err := io.ReadFull(client, piece)
				total += n
				if err != nil {
					break
				}
			}
			if err := <-ended; err != nil || total < len(answer) {
				t.Errorf("a slow client got %d bytes, the server says %v, want all", total, err)
			}
		})
	}
}

// TestLateAnswerWithoutBody proves that an answer arrives that took long to make and has
// no body.
func TestLateAnswerWithoutBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := serveOne(t, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Hour)
			w.WriteHeader(http.StatusNoContent)
		})
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(client)
		if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 204 ")) {
			t.Errorf("the client got %q, %v", answer, err)
		}
	})
}

// TestOptionsOfTheServer proves that the handler answers OPTIONS *, in place of net/http.
func TestOptionsOfTheServer(t *testing.T) {
	client := serveOne(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) })
	if _, err := io.WriteString(client, "OPTIONS * HTTP/1.1\r\nHost: clbemu\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusTeapot {
		t.Errorf("the status is %d, want the handler's", answer.StatusCode)
	}
}

// pipes is a listener at which clients arrive that dial it.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// TestSilentClients proves that clients which ask nothing, or never finish to ask, keep
// others out for 0.2 s at most, and that one which waits for its answer is left alone.
func TestSilentClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		answer := make(chan struct{})
		s := newHTTP(t.Context(), zerolog.Nop())
		s.Handler = inTime(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				<-answer
			}
		}))
		go func() { _ = s.Serve(newLimited(l, NewPlaces(4))) }()
		ask := func(path string) net.Conn {
			c := l.dial()
			if _, err := c.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")); err != nil {
				t.Fatal(err)
			}
			return c
		}
		slow := ask("/slow")
		silent := []net.Conn{l.dial(), l.dial(), l.dial()}
		if _, err := silent[0].Write([]byte("GET / HTTP/1.1\r\nX-A: ")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * patience)                                        // while there is room for all, none is closed
		_ = silent[1].SetReadDeadline(time.Now().Add(time.Millisecond)) // for what does not come
		if _, err := silent[1].Read(make([]byte, 1)); errors.Is(err, io.EOF) {
			t.Error("a silent client is closed while there is room")
		}
		start := time.Now()
		client := ask("/")
		response, err := http.ReadResponse(bufio.NewReader(client), nil)
		if took := time.Since(start); err != nil || response.StatusCode != http.StatusOK || took > patience {
			t.Errorf("a client beside silent ones gets %v, %v after %s", response, err, took)
		}
		if _, err := silent[0].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the client that was silent for longest reads %v, want the end", err)
		}
		time.Sleep(10 * patience)
		close(answer)
		if response, err := http.ReadResponse(bufio.NewReader(slow), nil); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("the client that waits gets %v, %v", response, err)
		}
		for _, c := range append(silent, slow, client) {
			c.Close()
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestIdleGivesWay proves that clients which keep connections open that they do not use, or
// send a body too slowly, keep others out for 0.2 s at most, at each of the listeners
// that share the places; and that one whose body comes at a fair rate is left alone.
func TestIdleGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := &pipes{make(chan net.Conn), make(chan struct{})}, &pipes{make(chan net.Conn), make(chan struct{})}
		places := NewPlaces(4)
		s := newHTTP(t.Context(), zerolog.Nop())
		s.Handler = inTime(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
		for _, l := range []*pipes{one, two} {
			go func() { _ = s.Serve(newLimited(l, places)) }()
		}
		ask := func(l *pipes, request string) net.Conn {
			c := l.dial()
			if _, err := c.Write([]byte(request)); err != nil {
				t.Fatal(err)
			}
			return c
		}
		answered := func(c net.Conn) {
			t.Helper()
			start := time.Now()
			response, err := http.ReadResponse(bufio.NewReader(c), nil)
			if took := time.Since(start); err != nil || response.StatusCode != http.StatusOK || took > patience {
				t.Errorf("a client gets %v, %v after %s", response, err, took)
			}
		}
		const get, put = "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
		send := func(c net.Conn, size int) {
			for text := make([]byte, size); ; time.Sleep(patience / 4) {
				if _, err := c.Write(text); err != nil {
					return
				}
			}
		}
		fair, slow := ask(one, put), ask(one, put)
		var sending sync.WaitGroup // one that sleeps when the bubble ends is a deadlock
		sending.Go(func() { send(fair, 8<<10) })
		sending.Go(func() { send(slow, 10) })
		idle := ask(one, get)
		answered(idle)
		newer := ask(one, get)
		answered(newer)
		time.Sleep(5 * patience)
		for range 5 {
			client := ask(two, get)
			answered(client)
			time.Sleep(2 * patience)
		}
		if places.Taken() > 4 {
			t.Errorf("%d places are taken, of 4", places.Taken())
		}
		answered(ask(two, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
		for name, c := range map[string]net.Conn{"an idle client": idle, "a slow client": slow} {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("%s reads %v, want the end", name, err)
			}
		}
		if response, err := http.ReadResponse(bufio.NewReader(fair), nil); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("a client that sends at a fair rate gets %v, %v", response, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		sending.Wait()
	})
}
