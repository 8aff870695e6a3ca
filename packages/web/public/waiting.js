// Asks again until the page is there. A refresh in the document does not: of an address with a token behind its `#`, as
// the house prints it, a browser takes that for a jump within the page and loads nothing.
setTimeout(() => location.reload(), 1000)
