package explain

// Messages is for tests.
var Messages = messages
