package conditions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
)

func hasKey(c *change, id string) error {
	if key, ok := cloud.AccessKeys.Find(c.View, id); !ok || key.AccountID != c.account.ID {
		return fmt.Errorf("the account has no access key %s", id)
	}
	return nil
}

func hasRole(c *change, name string) error {
	for instance := range cloud.Instances.All(c.View) {
		if instance.AccountID == c.account.ID && instance.RAMRoleName == name {
			return nil
		}
	}
	return fmt.Errorf("no instance of the account has the role %s", name)
}

func setKey(c *change, named, value string) error {
	key, ok := cloud.AccessKeys.Find(c.View, named)
	if !ok || key.AccountID != c.account.ID {
		return fmt.Errorf("the account has no access key %s", named)
	}
	changed := *key
	switch value {
	case "active":
		changed.Status = cloud.AccessKeyActive
	case "inactive":
		changed.Status = cloud.AccessKeyInactive
	case "deleted":
		cloud.AccessKeys.Delete(c.tx, named)
		return nil
	}
	cloud.AccessKeys.Put(c.tx, &changed)
	return nil
}

// setSecret gives a key a secret; one that is new is active at once.
func setSecret(c *change, named, value string) error {
	key := cloud.AccessKey{ID: named, AccountID: c.account.ID, Status: cloud.AccessKeyActive}
	if old, ok := cloud.AccessKeys.Find(c.View, named); ok {
		if old.AccountID != c.account.ID || old.SecurityToken != "" {
			return errors.New("the key is another account's, or temporary")
		}
		key = *old
	}
	if value == "" {
		return errors.New("want a secret")
	}
	key.Secret = value
	cloud.AccessKeys.Put(c.tx, &key)
	return nil
}

func getKeys(c *change) []Setting {
	var list []Setting
	for key := range cloud.AccessKeys.All(c.View) {
		if key.AccountID == c.account.ID && key.SecurityToken == "" {
			list = append(list, Setting{Name: "key." + key.ID + ".status", Value: strings.ToLower(string(key.Status))})
		}
	}
	return list
}

// setPolicy sets the policy of a principal that there must be: one of an unknown principal would
// deny nothing.
func setPolicy(principal func(string) string, exists func(*change, string) error) func(*change, string, string) error {
	return func(c *change, named, value string) error {
		id := cloud.PolicyID(c.account.ID, principal(named))
		if _, there := cloud.Policies.Find(c.View, id); !there {
			if err := exists(c, named); err != nil {
				return err
			}
		}
		if value == "none" {
			cloud.Policies.Delete(c.tx, id)
			return nil
		}
		document, err := cloud.ParsePolicy(value)
		if err != nil {
			return err
		}
		cloud.Policies.Put(c.tx, &cloud.Policy{AccountID: c.account.ID, Principal: principal(named), Document: document})
		return nil
	}
}

func getPolicies(c *change) []Setting {
	var list []Setting
	for p := range cloud.Policies.All(c.View) {
		if p.AccountID == c.account.ID {
			list = append(list, Setting{Name: "policy." + strings.Replace(p.Principal, "/", ".", 1), Value: p.Document.String()})
		}
	}
	return list
}
