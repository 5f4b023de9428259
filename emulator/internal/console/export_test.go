package console

// For the tests of languages.
var (
	EachText  = eachText
	InChinese = inChinese
)
