// Package openapi calls the cloud's APIs. It must not know what a call is for.
package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/auth/credentials"
	sdkerrors "github.com/aliyun/alibaba-cloud-sdk-go/sdk/errors"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"
)

// Product is an API of the cloud.
type Product struct{ name, version string }

// The products that the driver calls.
var (
	SLB = Product{"Slb", "2014-05-15"}
	NLB = Product{"Nlb", "2022-04-30"}
	VPC = Product{"Vpc", "2016-04-28"}
	ECS = Product{"Ecs", "2014-05-26"}
)

// Params are the parameters of a call.
type Params map[string]string

// Client calls all products at one address.
type Client struct {
	sdk      *sdk.Client
	endpoint string
}

// New returns a client that signs its calls with an access key.
func New(endpoint, region, accessKeyID, secret string) (*Client, error) {
	client, err := sdk.NewClientWithOptions(region, sdk.NewConfig().WithScheme("HTTP"), credentials.NewAccessKeyCredential(accessKeyID, secret))
	if err != nil {
		return nil, fmt.Errorf("make the SDK's client: %w", err)
	}
	return &Client{client, endpoint}, nil
}

// again is the time after which a throttled call is repeated. A controller that started over
// instead would repeat the calls before it.
const again = time.Second

// Call makes a call, and reads the answer into reply unless that is nil.
func (c *Client) Call(product Product, action string, params Params, reply any) error {
	err := c.call(product, action, params, reply)
	if Refused(err, "Throttling", "Throttling.User", "Throttling.Api") {
		time.Sleep(again)
		err = c.call(product, action, params, reply)
	}
	return err
}

func (c *Client) call(product Product, action string, params Params, reply any) error {
	request := requests.NewCommonRequest()
	request.Method, request.Scheme, request.Domain = "POST", "HTTP", c.endpoint
	request.Product, request.Version, request.ApiName = product.name, product.version, action
	for name, value := range params {
		if value != "" {
			request.QueryParams[name] = value
		}
	}
	response, err := c.sdk.ProcessCommonRequest(request)
	var refused *sdkerrors.ServerError
	switch {
	case errors.As(err, &refused):
		return &Error{refused.HttpStatus(), refused.ErrorCode(), refused.Message()}
	case err != nil || reply == nil:
		return err
	}
	return json.Unmarshal(response.GetHttpContentBytes(), reply)
}

// Error is an answer that refuses a call.
type Error struct {
	Status        int
	Code, Message string
}

// Error returns the form in which the documents about Services quote the cloud.
func (e *Error) Error() string {
	return fmt.Sprintf("Status Code: %d Code: %s Message: %s", e.Status, e.Code, e.Message)
}

// Refused reports whether an error is a refusal with one of the codes.
func Refused(err error, codes ...string) bool {
	var refused *Error
	if errors.As(err, &refused) {
		for _, code := range codes {
			if refused.Code == code {
				return true
			}
		}
	}
	return false
}
