package agents

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience bounds how long a client that has said its last waits for its answers.
const patience = 10 * time.Second

// answering is a transport that reports its end, or a message that can't be read, only
// when all requests before it are answered: the SDK answers none from then on.
type answering struct{ mcp.Transport }

func (a answering) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := a.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	answered, settle := context.WithCancel(ctx)
	return &answeringConnection{Connection: c, owed: map[jsonrpc.ID]bool{}, answered: answered, settle: settle}, nil
}

type answeringConnection struct {
	mcp.Connection
	answered context.Context // ends when Read need not wait any more
	settle   func()

	mu     sync.Mutex
	owed   map[jsonrpc.ID]bool // requests without an answer
	ending bool                // nothing follows
}

func (c *answeringConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if err != nil {
		c.change(func() { c.ending = true })
		select {
		case <-c.answered.Done():
		case <-time.After(patience):
		}
		return message, err
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.change(func() { c.owed[request.ID] = true })
	}
	return message, nil
}

func (c *answeringConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if err != nil {
		c.settle() // the client reads no more
	}
	if response, ok := message.(*jsonrpc.Response); ok {
		c.change(func() { delete(c.owed, response.ID) })
	}
	return err
}

func (c *answeringConnection) Close() error {
	c.settle()
	return c.Connection.Close()
}

func (c *answeringConnection) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	if c.ending && len(c.owed) == 0 {
		c.settle()
	}
}
