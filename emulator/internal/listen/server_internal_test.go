package listen

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
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
	s := newHTTP(context.Background(), zerolog.Nop(), handler)
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
