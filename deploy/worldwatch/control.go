package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// control is clbemu's control API, as far as it is needed here.
type control struct{ url, token string }

// callTimeout is how long a call may take: an import of a large cluster takes seconds.
const callTimeout = time.Minute

func (c *control) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.url, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, bytes.TrimSpace(text))
	}
	return text, nil
}

// Import implements cloud.
func (c *control) Import(ctx context.Context, list *corev1.List) (string, error) {
	body, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	text, err := c.call(ctx, http.MethodPost, "/v1/world/import", body)
	return string(bytes.TrimSpace(text)), err
}

// Instances implements cloud.
func (c *control) Instances(ctx context.Context) (map[string]string, error) {
	text, err := c.call(ctx, http.MethodGet, "/v1/resources?kind=instance", nil)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Resources []struct {
			ID     string                            `json:"id"`
			Fields struct{ Created, VSwitch string } `json:"fields"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("the control API lists no resources: %w", err)
	}
	made := make(map[string]string, len(answer.Resources))
	for _, r := range answer.Resources {
		made[r.ID] = r.Fields.Created + " " + r.Fields.VSwitch
	}
	return made, nil
}
