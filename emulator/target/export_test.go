package target

// Former is what a condition is set back to where these were listed before.
func Former(before map[string]string, name string) string {
	return (&Remote{before: before}).former(name)
}
