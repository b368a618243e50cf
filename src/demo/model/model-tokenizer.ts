import { type JsonObject, readJson } from '../../tasks/task-model.ts';
import { optionalReader, type ReadFile } from '../../frontend/decoders/reader/model-folder.ts';
import { openTaskTokenizer, type TaskTokenizer } from '../../tasks/task-tokenizer.ts';
import type { ModelTokenizer } from './text-inputs.ts';

/** Names of padding tokens to try, for a tokenizer that does not name its own. */
const FILLERS = ['[PAD]', '<pad>', '<|endoftext|>'];

/**
 * The tokenizer of a model's folder; undefined where it has no `tokenizer.json`. `tokenizer_config.json` and `config.json`
 * only help. Rejects with FormatError for a file that is none.
 */
export async function openModelTokenizer(read: ReadFile): Promise<ModelTokenizer | undefined> {
  const optional = optionalReader(read);
  const content = await optional('tokenizer.json');
  if (content === undefined) return undefined;
  const none = new TextEncoder().encode('{}');
  const tokenizer = await openTaskTokenizer(
    content,
    (await optional('tokenizer_config.json')) ?? none,
    {},
  );
  const [config = {}, model = {}] = await Promise.all([
    readJson(read, 'tokenizer_config.json', undefined),
    readJson(read, 'config.json', undefined),
  ]);
  const { truncation, padding } = tokenizer.facts;
  const limits = [
    truncation['max_length'],
    config['model_max_length'],
    model['max_position_embeddings'],
  ];
  return {
    tokenizer,
    mostTokens: Math.min(...limits.filter((limit) => typeof limit === 'number')),
    kept: isLeft(truncation['direction'] ?? config['truncation_side']) ? 'last' : 'first',
    padding: {
      id: numberOr(padding['pad_id'], await fillerOf(tokenizer, config)),
      typeId: numberOr(padding['pad_type_id'], 0),
      side: isLeft(padding['direction'] ?? config['padding_side']) ? 'left' : 'right',
    },
  };
}

async function fillerOf(tokenizer: TaskTokenizer, config: JsonObject): Promise<number> {
  const own = config['pad_token'];
  const named = typeof own === 'string' ? own : objectOf(own)['content'];
  const names = typeof named === 'string' ? [named, ...FILLERS] : FILLERS;
  const ids = await Promise.all(names.map((name) => tokenizer.idOf(name)));
  return ids.find((id) => id !== undefined) ?? 0;
}

function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

/** `tokenizer.json` writes it with a capital. */
function isLeft(side: unknown): boolean {
  return side === 'Left' || side === 'left';
}

function numberOr(value: unknown, other: number): number {
  return typeof value === 'number' ? value : other;
}
