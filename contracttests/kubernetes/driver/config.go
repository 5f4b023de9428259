package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// config tells the driver where it runs, like the file of a CCM (--cloud-config).
type config struct {
	AccessKeyID, AccessKeySecret string
	ClusterID, Region, VPCID     string
	VSwitchID                    string // zone:id, behind commas
	RouteTableIDs                string
}

// readConfig reads the file. A key that the file lacks is the environment's.
func readConfig(file string) (*config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var read struct{ Global config }
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c := &read.Global
	for _, secret := range []*string{&c.AccessKeyID, &c.AccessKeySecret} {
		plain, err := base64.StdEncoding.DecodeString(*secret)
		if err != nil {
			return nil, fmt.Errorf("%s: the access key: %w", file, err)
		}
		*secret = string(plain)
	}
	c.AccessKeyID = cmp.Or(c.AccessKeyID, os.Getenv("ACCESS_KEY_ID"))
	c.AccessKeySecret = cmp.Or(c.AccessKeySecret, os.Getenv("ACCESS_KEY_SECRET"))
	return c, nil
}

// vSwitch returns the first vSwitch.
func (c *config) vSwitch() string {
	first, _, _ := strings.Cut(c.VSwitchID, ",")
	_, id, _ := strings.Cut(first, ":")
	return id
}
