package agents

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostRefusal bounds a refusal, in bytes: it may repeat what the agent sent.
const mostRefusal = 4 << 10

// shortRefusals cuts the refusals of calls, whoever refuses.
func shortRefusals(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, request)
		var refusal *jsonrpc.Error
		switch r, _ := result.(*mcp.CallToolResult); {
		case errors.As(err, &refusal):
			return result, &jsonrpc.Error{Code: refusal.Code, Message: short(refusal.Message), Data: refusal.Data}
		case err != nil && len(err.Error()) > mostRefusal:
			return result, errors.New(short(err.Error()))
		case r != nil && r.IsError:
			for _, c := range r.Content {
				if text, ok := c.(*mcp.TextContent); ok {
					text.Text = short(text.Text)
				}
			}
		}
		return result, err
	}
}

func short(text string) string {
	if wrong, ok := strings.CutPrefix(text, "json: cannot unmarshal "); ok { // the rest is about Go
		value, _, _ := strings.Cut(strings.TrimPrefix(wrong, "number "), " ")
		text = "an argument is out of range: " + strings.TrimRight(value, "}")
	}
	if len(text) <= mostRefusal {
		return text
	}
	return strings.ToValidUTF8(text[:mostRefusal], "") + "…"
}
