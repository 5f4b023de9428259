package explain

// Messages is for tests.
var Messages = messages

// Refusals returns the messages that come with a code.
func (c *Index) Refusals() (all []string) {
	for _, a := range c.answers {
		if a.Code != "" && a.Message != "" {
			all = append(all, a.Message)
		}
	}
	return all
}
