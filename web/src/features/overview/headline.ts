// The one metric worth a place in a row: what is being made small, else what is being made large, else whatever came first.
import type { Task } from '@/lib/api';

const ranks = [/^(train[/_. -])?loss$/i, /(^|[/_. -])loss$/i, /loss/i, /(^|[/_. -])(ppl|perplexity|nll|error|mse|mae|rmse)$/i, /acc|f1|map|auc|bleu|reward|score/i];

export function headline(metrics: Task['metrics']): { name: string; value: number | string } | null {
  const names = Object.keys(metrics);
  for (const rank of ranks) {
    const name = names.find((each) => rank.test(each));
    if (name !== undefined) return { name, value: metrics[name]! };
  }
  return names[0] === undefined ? null : { name: names[0], value: metrics[names[0]]! };
}
