package cloud

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/auth/credentials"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/vpc"

	"github.com/clbemu/clbemu/contracttests/await"
)

// SLB returns a client of the API, with the key of the world.
func (c *Cloud) SLB() (*slb.Client, error) {
	client, err := slb.NewClientWithOptions(Region, sdk.NewConfig().WithScheme("HTTP").WithTimeout(await.Patience),
		credentials.NewAccessKeyCredential(AccessKeyID, AccessKeySecret))
	if err != nil {
		return nil, fmt.Errorf("make the SDK's client: %w", err)
	}
	client.Domain = c.Endpoint
	return client, nil
}

// VPC returns a client of the API, like SLB.
func (c *Cloud) VPC() (*vpc.Client, error) {
	client, err := vpc.NewClientWithOptions(Region, sdk.NewConfig().WithScheme("HTTP").WithTimeout(await.Patience),
		credentials.NewAccessKeyCredential(AccessKeyID, AccessKeySecret))
	if err != nil {
		return nil, fmt.Errorf("make the SDK's client: %w", err)
	}
	client.Domain = c.Endpoint
	return client, nil
}

// Calls returns the number of calls that the process has answered since its start.
func (c *Cloud) Calls(ctx context.Context) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.ControlURL()+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return sum(response.Body, "clbemu_calls_total{")
}

// sum adds up the values of the lines that start with the prefix.
func sum(metrics io.Reader, prefix string) (total int, err error) {
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), prefix) {
			continue
		}
		value := lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:]
		var n float64
		if _, err := fmt.Sscan(value, &n); err != nil {
			return 0, fmt.Errorf("metric %q: %w", lines.Text(), err)
		}
		total += int(n)
	}
	return total, lines.Err()
}
