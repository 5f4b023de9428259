package dataplane

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// probeError is why a check fails.
type probeError struct {
	error

	cause topology.Cause
}

// Unwrap returns the error without its cause.
func (e *probeError) Unwrap() error { return e.error }

// failing gives an error the cause that answers of the API have.
func failing(cause topology.Cause, err error) error { return &probeError{err, cause} }

// late returns one cause for an error that is a timeout, and else another.
func late(err error, timeout, other topology.Cause) topology.Cause {
	if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		return timeout
	}
	return other
}

// probe runs one check, and returns why it fails.
func probe(ctx context.Context, key *checkKey) error {
	switch key.kind {
	case "http":
		return probeHTTP(ctx, key)
	case "udp":
		return probeUDP(ctx, key)
	}
	c, err := dial(ctx, "tcp", key)
	if err != nil {
		return err
	}
	// The cloud ends the connection by a reset.
	return errors.Join(c.(*net.TCPConn).SetLinger(0), c.Close())
}

func dial(ctx context.Context, network string, key *checkKey) (net.Conn, error) {
	if err := (*listen.Service)(nil).Check(network, key.at); err != nil {
		return nil, failing(topology.ConnectFailed, err)
	}
	c, err := (&net.Dialer{}).DialContext(ctx, network, key.at.String())
	if err != nil {
		cause := late(err, topology.ConnectTimeout, topology.ConnectFailed)
		return nil, failing(cause, fmt.Errorf("the check gets no connection to %s: %w", key.at, err))
	}
	deadline, _ := ctx.Deadline() // the zero time is none
	return c, c.SetDeadline(deadline)
}

// maxAnswer bounds what a check reads of an answer.
const maxAnswer = 8 << 10

// probeHTTP asks as the cloud's checks do: HTTP/1.0, HEAD unless it says otherwise, the
// address as the host unless it has one.
func probeHTTP(ctx context.Context, key *checkKey) (err error) {
	c, err := dial(ctx, "tcp", key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	method, host, uri := strings.ToUpper(key.method), key.host, key.uri
	if method == "" {
		method = http.MethodHead
	}
	if host == "" {
		host = key.at.Addr().String()
	}
	if uri == "" {
		uri = "/"
	}
	if strings.ContainsAny(method+host+uri, "\r\n") {
		return fmt.Errorf("the check's path or host has a line break")
	}
	if _, err := fmt.Fprintf(c, "%s %s HTTP/1.0\r\nHost: %s\r\nUser-Agent: KeepAliveClient\r\n\r\n", method, uri, host); err != nil {
		return failing(topology.ConnectInterrupted, fmt.Errorf("the check's request to %s: %w", key.at, err))
	}
	response, err := http.ReadResponse(bufio.NewReader(io.LimitReader(c, maxAnswer)), &http.Request{Method: method})
	if err != nil {
		return failing(answerCause(err), fmt.Errorf("%s does not answer the check by HTTP: %w", key.at, err))
	}
	if !statusMatches(key.codes, response.StatusCode) {
		err = failing(topology.OtherCode, fmt.Errorf("%s answers the check of %s with %d", key.at, uri, response.StatusCode))
	}
	return errors.Join(err, response.Body.Close())
}

// answerCause returns why no answer of HTTP could be read.
func answerCause(err error) topology.Cause {
	var network net.Error
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) {
		return late(err, topology.ResponseTimeout, topology.ConnectInterrupted)
	}
	return topology.InvalidHeader
}

// statusMatches reports whether a status is among codes such as http_2xx,http_3xx or 200-299.
func statusMatches(codes string, status int) bool {
	if codes == "" {
		codes = "http_2xx"
	}
	for code := range strings.SplitSeq(codes, ",") {
		class, named := strings.CutPrefix(strings.TrimSpace(code), "http_")
		if named && class == strconv.Itoa(status/100)+"xx" || code == strconv.Itoa(status) {
			return true
		}
		low, high, isRange := strings.Cut(code, "-")
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if isRange && err1 == nil && err2 == nil && from <= status && status <= to {
			return true
		}
	}
	return false
}

// probeUDP sends a packet. A server that refuses it is not well; one that is silent is,
// unless the check expects an answer.
func probeUDP(ctx context.Context, key *checkKey) (err error) {
	c, err := dial(ctx, "udp", key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := c.Write([]byte(key.request)); err != nil {
		return failing(topology.ConnectFailed, fmt.Errorf("the check's packet to %s: %w", key.at, err))
	}
	answer := make([]byte, len(key.expect)+1)
	n, err := c.Read(answer)
	switch timedOut := errors.Is(err, context.DeadlineExceeded) || isTimeout(err); {
	case err != nil && !timedOut:
		return failing(topology.ConnectFailed, fmt.Errorf("%s refuses the check's packet: %w", key.at, err))
	case key.expect == "":
		return nil
	case timedOut:
		return failing(topology.ResponseTimeout, fmt.Errorf("%s does not answer the check within %s", key.at, key.timeout))
	case string(answer[:n]) != key.expect:
		return failing(topology.ResponseTimeout, fmt.Errorf("%s answers the check with %q, not %q", key.at, answer[:n], key.expect))
	}
	return nil
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}
