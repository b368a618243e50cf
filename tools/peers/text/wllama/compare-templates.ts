import {
  type ChatMessage,
  openChatTemplate,
} from '../../../../src/frontend/decoders/reader/chat-template.ts';
import { type GgufHead, readGguf } from '../../../../src/frontend/decoders/files/gguf.ts';
import { ggufTokenizer } from '../../../../src/frontend/decoders/files/tokenizer/gguf-tokenizer.ts';
import type { Checks } from '../../../show/checks.ts';
import { type ShownTemplate, SHOWN_TEMPLATES } from './chat-templates.ts';
import type { Completion } from './in-page.ts';
import type { Peer } from './open-peer.ts';
import { ggufBytes, randomModel, SIZES } from './shown-models.ts';

/** Tokens that are compared behind a conversation. */
const LENGTH = 6;
/** Logits of one text, however it is cut into batches. */
const SAME = 1e-3;

/**
 * Compares texts of our templates with those of wllama's. Wllama does not tell its text, so it gets
 * ours as a plain prompt: with random weights the same tokens follow with the same probabilities
 * only after the same tokens.
 */
export async function compareTemplates(checks: Checks, peer: Peer): Promise<void> {
  checks.section(
    'Conversations as their templates write them: wllama goes on with ours as with its own',
  );
  for (const shown of SHOWN_TEMPLATES) await compare(checks, peer, shown);
}

async function compare(checks: Checks, peer: Peer, shown: ShownTemplate): Promise<void> {
  const { name, template, conversations } = shown;
  const tokenizer = { ...shown.tokenizer, 'tokenizer.chat_template': template };
  const model = randomModel({ ...SIZES, model_type: 'llama' }, tokenizer, 9);
  const file = ggufBytes(model, model.decoder('F32'));
  const { tokenizerConfig } = ggufTokenizer((readGguf(file) as GgufHead).metadata);
  const own = await openChatTemplate(tokenizerConfig, undefined);
  if (own === undefined) throw new Error('a file without a template');
  const { bos_token: bos, add_bos_token: addsBos } = tokenizerConfig;
  const texts = conversations.map((messages) => {
    const text = own.render(messages as readonly ChatMessage[]);
    // wllama adds the token that begins a text, and takes the one away that a template writes.
    return addsBos === true && typeof bos === 'string' && text.startsWith(bos)
      ? text.slice(bos.length)
      : text;
  });
  const theirs = await peer.complete(
    file,
    conversations.map((messages) => ({ messages })),
    LENGTH,
  );
  const ours = await peer.complete(file, texts, LENGTH);
  const differences = theirs.map((answer, i) => difference(answer, ours[i]));
  checks.check(
    theirs.length === conversations.length && differences.every((size) => size <= SAME),
    `${name.padEnd(24)} ${theirs.length} conversations of ${theirs.map(({ promptTokens }) => promptTokens).join(', ')} tokens, ` +
      `logits at most ${Math.max(...differences).toExponential(1)} apart`,
  );
  const wrong = texts.find((_, i) => (differences[i] ?? 0) > SAME);
  if (wrong !== undefined) checks.note(JSON.stringify(wrong));
}

/** The largest difference of logits; infinite where prompts or tokens differ. */
function difference(one: Completion, other: Completion | undefined): number {
  if (one.promptTokens !== other?.promptTokens || one.tokens.length !== LENGTH) {
    return Number.POSITIVE_INFINITY;
  }
  return Math.max(
    ...one.tokens.map(({ id, logprob }, i) => {
      const token = other.tokens[i];
      return token?.id === id ? Math.abs(logprob - token.logprob) : Number.POSITIVE_INFINITY;
    }),
  );
}
