package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/names"
)

func newQuota() *cobra.Command {
	f := &conditionFlags{}
	used := false
	cmd := f.addWhere(&cobra.Command{
		Use:   "quota",
		Short: "Show the quotas, their use, and the resources that use them",
		Example: `  clbemu quota
  clbemu quota --used
  clbemu quota apply slb_quota_instances_num 100`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string, c *controlclient.Client) error {
		quotas, err := c.Quotas(cmd.Context(), f.where)
		if err != nil {
			return err
		}
		if used {
			quotas = slices.DeleteFunc(quotas, func(q controlapi.QuotaUse) bool { return len(q.Holders) == 0 })
		}
		return printing(cmd).show(controlapi.Quotas{Quotas: append([]controlapi.QuotaUse{}, quotas...)}, func(s *terminal.Screen) error {
			var rows [][]string
			for _, q := range quotas {
				if len(q.Holders) == 0 {
					rows = append(rows, []string{q.Name, strconv.Itoa(q.Limit), "0", ""})
				}
				for _, h := range q.Holders {
					rows = append(rows, []string{q.Name, strconv.Itoa(q.Limit), strconv.Itoa(h.Used), h.ID})
				}
			}
			return s.Table([]string{"QUOTA", "LIMIT", "USED", "BY"}, rows)
		})
	})
	cmd.AddCommand(newQuotaApply())
	cmd.Flags().BoolVar(&used, "used", false, "leave out unused quotas")
	return cmd
}

// applyFlags are the settings of clbemu quota apply.
type applyFlags struct {
	clientFlags
	reason string
}

func newQuotaApply() *cobra.Command {
	f := &applyFlags{}
	cmd := &cobra.Command{
		Use:   "apply QUOTA LIMIT",
		Short: "Apply for a higher quota, as in the cloud's Quota Center",
		Long: `Apply for a higher quota by a signed call of the Quota Center,
CreateQuotaApplication. If the application is granted, the products enforce the new
limit. It is refused while the condition account.refuseQuotaApplications is true, and
is in review as long as the stage quota.review takes. Exits with 1 when it is refused.`,
		Example: `  clbemu quota apply slb_quota_instances_num 100
  clbemu quota apply slb_quota_backendservers_num 400 --reason "more nodes"`,
		Args: between(2, 2, "a quota and the limit that it is to have"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.apply(cmd, args[0], args[1]) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return emulator.Names().Quotas(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	f.define(cmd.Flags())
	cmd.Flags().StringVar(&f.reason, "reason", "applied for by clbemu", "why the quota is to be higher")
	return cmd
}

func (f *applyFlags) apply(cmd *cobra.Command, quota, limit string) error {
	if known := emulator.Names().Quotas(); !slices.Contains(known, quota) {
		return usage(fmt.Errorf("there is no quota %s%s", quota, names.DidYouMean(quota, known, "`clbemu quota` lists them")))
	}
	if n, err := strconv.Atoi(limit); err != nil || n < 1 {
		return usage(fmt.Errorf("%q is not a limit: give a whole number above the quota's limit, such as 100", limit))
	}
	call := callFlags{product: "quotas"}
	action, err := call.action("CreateQuotaApplication")
	if err != nil {
		return err
	}
	product, _, _ := strings.Cut(quota, "_quota_")
	reply, err := f.send(cmd.Context(), action, map[string]string{"ProductCode": product, "QuotaActionCode": quota, "DesireValue": limit, "Reason": f.reason})
	if err == nil {
		err = refusal(cmd, action, reply)
	}
	if err != nil {
		return err
	}
	if err := printing(cmd).show(reply.Body, func(s *terminal.Screen) error {
		return s.Table([]string{"APPLICATION", "QUOTA", "RESULT"}, [][]string{{reply.Text("ApplicationId"), quota, verdict(reply.Text("Status"), limit)}})
	}); err != nil {
		return err
	}
	if reply.Text("Status") == "Disagree" {
		return failed(fmt.Errorf("the application for %s was refused: `clbemu world set account.refuseQuotaApplications=false` grants the next", quota))
	}
	return nil
}

// verdict describes the result of an application.
func verdict(status, limit string) string {
	switch status {
	case "Agree":
		return "granted: the limit is " + limit
	case "Disagree":
		return "refused"
	}
	return "in review"
}
