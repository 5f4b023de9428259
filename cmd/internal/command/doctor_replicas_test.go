package command

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// doctor says who leads, and finds what keeps calls from being answered.
func TestDoctorReplicas(t *testing.T) {
	all := []controlapi.Replica{{Name: "r1"}, {Name: "r2"}}
	for _, test := range []struct {
		name  string
		is    *controlapi.Replicas
		level string
		says  string
	}{
		{"alone", nil, "", ""},
		{"nobody leads", &controlapi.Replicas{Self: "r1"}, levelProblem, "no replica leads"},
		{"leads", &controlapi.Replicas{Self: "r1", Leader: "r1", Leads: true, All: all}, levelOK, "r1 leads r1, r2"},
		{"uncertain", &controlapi.Replicas{Self: "r1", Leader: "r1", All: all}, levelProblem, "not certain"},
		{"follows", &controlapi.Replicas{Self: "r2", Leader: "r1", LagSeconds: 0.012, All: all}, levelOK, "r2 follows r1, 12ms behind at most"},
		{"spoilt", &controlapi.Replicas{Self: "r2", Leader: "r1", Problem: "another program changed it", All: all}, levelProblem, "r2 runs, and r1 leads, but another program changed it"},
		{"stale", &controlapi.Replicas{Self: "r2", Leader: "r1", LagSeconds: 4, All: all}, levelProblem, "r2 may be 4s behind the leader r1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var d doctor
			d.replicas(test.is)
			switch {
			case test.level == "" && len(d.list) == 0:
			case len(d.list) != 1 || d.list[0].Level != test.level || !strings.Contains(d.list[0].Says, test.says):
				t.Errorf("doctor says %+v, want %s %q", d.list, test.level, test.says)
			}
		})
	}
}
