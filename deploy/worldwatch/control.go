package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

// control is the emulated cloud behind clbemu's control API.
type control struct{ *controlclient.Client }

var _ cloud = (*control)(nil)

// callTimeout bounds a call: an import of a large cluster takes seconds.
const callTimeout = time.Minute

// Import implements cloud.
func (c *control) Import(ctx context.Context, list *corev1.List) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	done, err := c.ImportCluster(ctx, controlapi.Where{}, bytes.NewReader(body))
	return fmt.Sprintf("%+v", done), err
}

var instances = controlclient.Wanted{Kind: "instance"}

// Instances implements cloud.
func (c *control) Instances(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	found, err := c.Resources(ctx, instances)
	if err != nil {
		return nil, err
	}
	made := make(map[string]string, len(found.Resources))
	for _, r := range found.Resources {
		made[r.ID] = r.Fields["created"] + " " + r.Fields["vswitch"]
	}
	return made, nil
}

// Follow implements cloud.
func (c *control) Follow(ctx context.Context, changed func()) error {
	err := c.WatchResources(ctx, instances, func(change controlapi.ResourceChange) error {
		if change.Change != controlapi.ResourceAdded {
			changed()
		}
		return nil
	})
	if err == nil {
		err = errors.New("clbemu ended the stream of instances")
	}
	return err
}
