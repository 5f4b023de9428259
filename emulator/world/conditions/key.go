package conditions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

func hasKey(c *change, id string) error {
	if key, ok := kinds.AccessKeys.Find(c.View, id); !ok || key.AccountID != c.account.ID {
		return fmt.Errorf("the account has no access key %s", id)
	}
	return nil
}

func hasRole(c *change, name string) error {
	for instance := range kinds.Instances.All(c.View) {
		if instance.AccountID == c.account.ID && instance.RAMRoleName == name {
			return nil
		}
	}
	return fmt.Errorf("no instance of the account has the role %s", name)
}

func setKey(c *change, named, value string) error {
	key, ok := kinds.AccessKeys.Find(c.View, named)
	if !ok || key.AccountID != c.account.ID {
		return fmt.Errorf("the account has no access key %s", named)
	}
	changed := *key
	switch value {
	case "active":
		changed.Status = kinds.AccessKeyActive
	case "inactive":
		changed.Status = kinds.AccessKeyInactive
	case "deleted":
		kinds.AccessKeys.Delete(c.tx, named)
		return nil
	}
	kinds.AccessKeys.Put(c.tx, &changed)
	return nil
}

// setSecret gives a key a secret; one that is new is active at once.
func setSecret(c *change, named, value string) error {
	key := kinds.AccessKey{ID: named, AccountID: c.account.ID, Status: kinds.AccessKeyActive}
	if old, ok := kinds.AccessKeys.Find(c.View, named); ok {
		if old.AccountID != c.account.ID || old.SecurityToken != "" {
			return errors.New("the key is another account's, or temporary")
		}
		key = *old
	}
	if value == "" {
		return errors.New("want a secret")
	}
	key.Secret = value
	kinds.AccessKeys.Put(c.tx, &key)
	return nil
}

func getKeys(c *change) []Setting {
	var list []Setting
	for key := range kinds.AccessKeys.All(c.View) {
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
		id := kinds.PolicyID(c.account.ID, principal(named))
		if _, there := kinds.Policies.Find(c.View, id); !there {
			if err := exists(c, named); err != nil {
				return err
			}
		}
		if value == "none" {
			kinds.Policies.Delete(c.tx, id)
			return nil
		}
		document, err := kinds.ParsePolicy(value)
		if err != nil {
			return err
		}
		kinds.Policies.Put(c.tx, &kinds.Policy{AccountID: c.account.ID, Principal: principal(named), Document: document})
		return nil
	}
}

func getPolicies(c *change) []Setting {
	var list []Setting
	for p := range kinds.Policies.All(c.View) {
		if p.AccountID == c.account.ID {
			list = append(list, Setting{Name: "policy." + strings.Replace(p.Principal, "/", ".", 1), Value: p.Document.String()})
		}
	}
	return list
}
