export { commandText, quote, quoteAll, readCommand, wordText, type Command, type ShellReason } from './words';
export { copyText, CopyText } from './CopyText';
