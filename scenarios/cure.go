package scenarios

import "strings"

// Cures lists the cures that the half shows, each by the indexes of its steps: one named
// "cure: …", and those named "cure: and …" that go with it.
func (h *Half) Cures() (list [][]int) {
	for i := range h.Steps {
		switch name := h.Steps[i].Name; {
		case strings.HasPrefix(name, "cure: and ") && list != nil:
			list[len(list)-1] = append(list[len(list)-1], i)
		case strings.HasPrefix(name, "cure: "):
			list = append(list, []int{i})
		}
	}
	return list
}
