// The same task as one would queue it from a terminal.
import { quote, quoteAll, wordText } from '@/lib/shell';
import type { SpecWish } from './draft';

/** Like the yard's own judgement of names (src/model/names.cc): HF_TOKEN is secret, MAX_TOKENS is not. */
export function looksSecret(variable: string): boolean {
  const name = variable.toUpperCase();
  if (name === 'PWD' || name === 'OLDPWD') return false;
  const words = name.split('_');
  return words.some((word, at) => {
    if (/(TOKEN|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|APIKEY|CREDENTIALS?)$/.test(word)) return true;
    if (word === 'PWD' || word === 'PASS') return true;
    return words.length > 1 && at === words.length - 1 && (word === 'KEY' || word === 'KEYS');
  });
}

const plain = (word: string | { base64: string }) => wordText(word).text;

/** `trainyard run …`; `whole` is false where the task has something that no option says. Secrets come from the reader's shell. */
export function commandLine(spec: SpecWish): { text: string; whole: boolean } {
  const words = ['trainyard', 'run'];
  const option = (name: string, value: unknown) => {
    if (value !== undefined) words.push(name, quote(String(value)));
  };
  option('--name', spec.name);
  const gpus = spec.resources?.gpus;
  option('--gpus', Array.isArray(gpus) ? `{${gpus.join(',')}}` : gpus);
  if (spec.ranks) words.push('--ranks');
  option('--share', spec.resources?.share);
  option('--gpu-memory', spec.resources?.gpu_memory);
  if (spec.resources?.exclusive) words.push('--exclusive');
  if (spec.resources?.gpu_ids === 'index') option('--gpu-ids', 'index');
  option('--cpus', spec.resources?.cpus);
  option('--mem', spec.resources?.memory);
  option('--workdir', plain(spec.workdir));
  for (const [name, value] of Object.entries(spec.variables ?? {})) {
    if (looksSecret(name) && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) words.push('--env', `${name}="$${name}"`);
    else option('--env', `${name}=${plain(value as string)}`);
  }
  for (const after of spec.after ?? []) option('--after', `${after.task}${after.on && after.on !== 'ok' ? `:${after.on}` : ''}`);
  option('--begin', spec.begin);
  option('--priority', spec.priority);
  option('--retry', spec.retry?.max);
  const length = (value: unknown) => (typeof value === 'number' ? `${value}s` : value);
  option('--time', length(spec.limits?.time));
  option('--idle', length(spec.limits?.idle));
  option('--log-limit', spec.limits?.log);
  if (spec.checkpoint?.signal !== undefined && spec.checkpoint.signal !== 'TERM') option('--stop-signal', spec.checkpoint.signal);
  if (spec.checkpoint?.target !== undefined && spec.checkpoint.target !== 'group') option('--stop-target', spec.checkpoint.target);
  option('--stop-grace', length(spec.checkpoint?.grace));
  for (const tag of spec.tags ?? []) option('--tag', tag);
  if (spec.hold) words.push('--hold');
  if (!spec.environment?.variables) words.push('--clean-env');
  const argv = spec.command.map(plain);
  if (argv.length === 3 && argv[0] === 'sh' && argv[1] === '-c') words.push('--shell', '--', quote(argv[2]!));
  else words.push('--', quoteAll(argv));
  const unsaid = spec.checkpoint?.resume ?? spec.retry?.delay ?? spec.recipe ?? (spec.retry?.on === 'any' ? 'any' : undefined);
  return { text: words.join(' '), whole: unsaid === undefined };
}
