import { compileGrammar } from '../../src/text/grammar/compile-grammar.ts';
import { Vocabulary } from '../../src/text/grammar/tokens/vocabulary.ts';
import { vocabularyData } from '../../src/frontend/decoders/reader/vocabulary-data.ts';
import { PEOPLE, PERSON_SCHEMA } from './person-schema.ts';
import { benchTokens } from './vocabularies.ts';

/** Numbers of tokens of vocabularies. */
const GRAMMAR_SIZES = [32_000, 128_000];
/** The most that constrained output may take. */
const GRAMMAR_TARGETS: GrammarStatistics = {
  compileMs: 300,
  medianUs: 20,
  p99Us: 500,
  maxUs: 3000,
};
/** New grammars, each of which reads the documents once. */
const GRAMMAR_COUNT = 7;
/** Times over a vocabulary. */
interface GrammarTiming {
  readonly vocabularyMs: number;
  /** By grammar. */
  readonly compileMs: number[];
  /** By grammar and token. */
  readonly tokenUs: number[][];
}

/** The fastest times: to compile, and the median, the 99th percentile and the maximum of a token. */
interface GrammarStatistics {
  readonly compileMs: number;
  readonly medianUs: number;
  readonly p99Us: number;
  readonly maxUs: number;
}

/**
 * Times constrained output: a schema of 20 fields, over documents cut into the longest tokens. A
 * token is a mask and its acceptance. Each of several new grammars reads the documents once, so states
 * are reached for the first time; of these the fastest counts for each token and for compiling,
 * because other processes interrupt. Resolves to the exit status: 1 when a target is missed.
 */
export async function main(): Promise<number> {
  let status = 0;
  for (const size of GRAMMAR_SIZES) {
    const { source, tokens } = benchTokens(size - 1);
    console.log(`\n${size} tokens (${source}), ${PEOPLE.length} documents`);
    const ours = timeGrammars(tokens);
    console.log(grammarLine(ours));
    const reached = grammarStatistics(ours);
    if (missedTargets(reached).length > 0) status = 1;
  }
  return status;
}

/** Names of what takes longer than it may. */
function missedTargets(reached: GrammarStatistics): (keyof GrammarStatistics)[] {
  const names = Object.keys(GRAMMAR_TARGETS) as (keyof GrammarStatistics)[];
  return names.filter((name) => reached[name] > GRAMMAR_TARGETS[name]);
}

/** Times the grammars of this repository over a vocabulary. */
function timeGrammars(tokens: readonly Uint8Array[]): GrammarTiming {
  const start = performance.now();
  const vocabulary = new Vocabulary(
    vocabularyData([...tokens, undefined], { endTokens: [tokens.length] }),
  );
  const vocabularyMs = performance.now() - start;
  const ids = documentTokens(vocabulary);
  const mask = new Uint32Array(vocabulary.maskLength);
  const timing: GrammarTiming = { vocabularyMs, compileMs: [], tokenUs: [] };
  for (let i = 0; i < GRAMMAR_COUNT; i++) {
    const before = performance.now();
    const grammar = compileGrammar({ schema: PERSON_SCHEMA }, vocabulary);
    timing.compileMs.push(performance.now() - before);
    const times: number[] = [];
    for (const document of ids) {
      const matcher = grammar.start();
      for (const id of document) {
        const start = performance.now();
        matcher.mask(mask);
        const isAccepted = matcher.accept(id);
        times.push(1000 * (performance.now() - start));
        if (!isAccepted) throw new Error(`token ${id} of a document is not allowed`);
      }
    }
    timing.tokenUs.push(times);
  }
  return timing;
}

const documentTokens = (vocabulary: Vocabulary): number[][] =>
  PEOPLE.map((value) => longestTokens(JSON.stringify(value), vocabulary));

function longestTokens(text: string, vocabulary: Vocabulary): number[] {
  const bytes = new TextEncoder().encode(text);
  const ids: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { token, length } = vocabulary.longestToken(bytes.subarray(at));
    if (token === undefined) throw new Error('a byte has no token');
    ids.push(token);
    at += length;
  }
  return ids;
}

function grammarStatistics({ compileMs, tokenUs }: GrammarTiming): GrammarStatistics {
  const [first = []] = tokenUs;
  const fastest = first.map((_, i) => Math.min(...tokenUs.map((times) => times[i] ?? 0)));
  fastest.sort((a, b) => a - b);
  const at = (share: number) => fastest[Math.floor(share * (fastest.length - 1))] ?? 0;
  return { compileMs: Math.min(...compileMs), medianUs: at(0.5), p99Us: at(0.99), maxUs: at(1) };
}

/** The times in a line. */
function grammarLine(timing: GrammarTiming): string {
  const { compileMs, medianUs, p99Us, maxUs } = grammarStatistics(timing);
  const { vocabularyMs, compileMs: all } = timing;
  return (
    `vocabulary ${vocabularyMs.toFixed(0)} ms, compile ${compileMs.toFixed(0)} ms ` +
    `(first ${all[0]?.toFixed(0)}), a token: median ${medianUs.toFixed(1)} us, ` +
    `p99 ${p99Us.toFixed(1)}, max ${maxUs.toFixed(1)}`
  );
}
