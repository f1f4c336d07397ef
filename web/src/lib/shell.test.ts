import { describe, expect, it } from 'vitest';
import { commandText, quote, quoteAll, readCommand, wordText } from './shell';

const words = (text: string) => {
  const read = readCommand(text);
  return read.kind === 'words' ? read.argv : read;
};
const reason = (text: string) => {
  const read = readCommand(text);
  return read.kind === 'shell' ? read.reason : read.kind;
};

describe('a typed command', () => {
  it('is split at blanks', () => {
    expect(words('python  train.py\t--lr 1e-4 ')).toEqual(['python', 'train.py', '--lr', '1e-4']);
    expect(words('  \n python train.py\n\n')).toEqual(['python', 'train.py']);
  });
  it('keeps what is quoted in one word', () => {
    expect(words(`python -c 'print("a  b")'`)).toEqual(['python', '-c', 'print("a  b")']);
    expect(words(`a "b c"d'e f' ""`)).toEqual(['a', 'b cde f', '']);
    expect(words(String.raw`a b\ c \'d \\`)).toEqual(['a', 'b c', "'d", '\\']);
  });
  it('takes a backslash in double quotes as sh does', () => {
    expect(words(String.raw`a "\n\$HOME\"\\"`)).toEqual(['a', String.raw`\n$HOME"` + '\\']);
  });
  it('goes on after a backslash at the end of a line, as read-me files have it', () => {
    expect(words('python train.py \\\n  --lr 1e-4 \\\r\n  --epochs 3')).toEqual(['python', 'train.py', '--lr', '1e-4', '--epochs', '3']);
    expect(words('ab\\\ncd')).toEqual(['abcd']);
    expect(words('a "b\\\nc"')).toEqual(['a', 'bc']);
  });
  it('leaves quoted signs alone', () => {
    for (const sign of ['|', '&&', ';', '$HOME', '*', '~', '#', '`id`', '>', '(x)'])
      expect(words(`echo '${sign}'`)).toEqual(['echo', sign]);
    expect(words('echo 5$ "5$" a$')).toEqual(['echo', '5$', '5$', 'a$']);
    expect(words('echo a#b a~b {1,2} key=value --x=y')).toEqual(['echo', 'a#b', 'a~b', '{1,2}', 'key=value', '--x=y']);
  });
  it.each([
    ['a | b', 'operator'],
    ['a && b', 'operator'],
    ['a; b', 'operator'],
    ['a > log', 'operator'],
    ['(a)', 'operator'],
    ['a & ', 'operator'],
    ['a $HOME', 'variable'],
    ['a "$HOME"', 'variable'],
    ['a ${X:-1}', 'variable'],
    ['a $(date)', 'variable'],
    ['a `date`', 'variable'],
    ["a $'\\n'", 'variable'],
    ['ls *.py', 'pattern'],
    ['ls a?', 'pattern'],
    ['ls [ab]', 'pattern'],
    ['a\nb', 'lines'],
    ['CUDA_LAUNCH_BLOCKING=1 python a.py', 'assignment'],
    ['a # note', 'comment'],
    ['cat ~/x', 'home'],
    ['cd /data', 'keyword'],
    ['source env/bin/activate', 'keyword'],
  ])('%s goes through a shell: %s', (text, why) => {
    expect(reason(text)).toBe(why);
    expect(readCommand(text)).toMatchObject({ argv: ['sh', '-c', text.trim()] });
  });
  it('does not read an apostrophe of a comment as a quote', () => {
    expect(reason("a # don't")).toBe('comment');
    expect(reason("# don't\npython a.py")).toBe('comment');
  });
  it('is empty when it has nothing but blanks and comments', () => {
    for (const text of ['', ' \n\t', '# only this']) expect(readCommand(text)).toEqual({ kind: 'empty' });
  });
  it('says which quote is open', () => {
    expect(readCommand("a 'b")).toEqual({ kind: 'fault', fault: 'quote' });
    expect(readCommand('a "b')).toEqual({ kind: 'fault', fault: 'double_quote' });
    expect(readCommand('a "b\\')).toEqual({ kind: 'fault', fault: 'double_quote' });
    expect(readCommand('a \\')).toEqual({ kind: 'fault', fault: 'backslash' });
    expect(readCommand('a \0')).toEqual({ kind: 'fault', fault: 'nul' });
  });
  it('is read in linear time', () => {
    const before = performance.now();
    readCommand(`'${'a'.repeat(500_000)}' ${'"x" '.repeat(200_000)}`);
    readCommand('\\a'.repeat(500_000));
    expect(performance.now() - before).toBeLessThan(2000);
  });
});

describe('words written as a line', () => {
  const hostile = ['', ' ', "'", '"', "''", '\\', '\\\\', '$HOME', '`id`', '$(id)', 'a\nb', '\t', '*', '~', '~/x', '#', '-', '--', '=', 'A=b', '!', 'if', 'cd', '|', '; rm -rf /', "it's", '"$x"', '{a,b}', '实验 一', '🙂', '\u202e', 'a\\', "'\\''", '=python', '[', 'x#y', '\\\n'];
  it('are read back as the same words', () => {
    for (const first of hostile)
      for (const second of hostile) {
        const argv = [first, second, 'end'];
        expect(readCommand(quoteAll(argv)), quoteAll(argv)).toEqual({ kind: 'words', argv });
        expect(readCommand(commandText(argv)), commandText(argv)).toMatchObject({ argv });
      }
  });
  it('survive any mixture of signs', () => {
    const signs = ['a', ' ', "'", '"', '\\', '$', '`', '\n', '*', '#', '=', '~', '!', 'é'];
    let seed = 7;
    const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
    for (let turn = 0; turn < 3000; turn++) {
      const argv = Array.from({ length: 1 + random(3) }, () => Array.from({ length: random(6) }, () => signs[random(signs.length)]!).join(''));
      expect(readCommand(commandText(argv)), JSON.stringify(argv)).toMatchObject({ argv });
    }
  });
  it('stay plain where they are', () => {
    expect(quote('--lr=1e-4')).toBe('--lr=1e-4');
    expect(quote("it's")).toBe(`'it'\\''s'`);
    expect(quote('')).toBe("''");
  });
  it('show a line for the shell as it was typed', () => {
    expect(commandText(['sh', '-c', 'a | b'])).toBe('a | b');
    expect(commandText(['sh', '-c', 'echo hi'])).toBe("sh -c 'echo hi'");
    expect(commandText(['sh', '-c', ' a | b'])).toBe("sh -c ' a | b'");
    expect(commandText(['sh', '-c', 'a | b', 'zero'])).toBe("sh -c 'a | b' zero");
  });
});

describe('a word of the yard', () => {
  it('is text, or bytes shown as far as they are text', () => {
    expect(wordText('é')).toEqual({ text: 'é', whole: true });
    expect(wordText({ base64: btoa('a\xff') })).toEqual({ text: 'a�', whole: false });
    expect(wordText({ base64: '%%' })).toEqual({ text: '�', whole: false });
  });
});
