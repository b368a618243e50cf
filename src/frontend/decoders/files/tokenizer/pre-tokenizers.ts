/** How a byte-level model cuts a text into words before it joins pairs within each. */
export interface PreTokenizer {
  /** Patterns in the syntax of Oniguruma. Each cuts the pieces that the one before it left: what it matches, and what lies between. */
  readonly patterns: readonly string[];
  /** Makes a word that is a token that token, however its pairs would be merged. */
  readonly ignoresMerges?: true;
  /** Puts the BOS token before each text, unless the file says otherwise. */
  readonly addsBos?: true;
}

// The patterns are those of the models' own tokenizer.json.
const CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d";
/** In either case. Only in ASCII: `(?i:…)` would take the long s and the sign for kelvin as well. */
const ANY_CASE_CONTRACTIONS = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]";
const GPT2 = `${CONTRACTIONS}| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+`;
const BLANKS = '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

/** The pattern of cl100k, with digits in groups of another size. */
const cl100k = (digits: string): string =>
  `${ANY_CASE_CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${BLANKS}`;

const UPPER = '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]';
const LOWER = '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]';

/** The pattern of o200k, which cuts words where upper case begins. */
const o200k = (digits: string, contractions: string): string =>
  `[^\\r\\n\\p{L}\\p{N}]?${UPPER}*${LOWER}+${contractions}|[^\\r\\n\\p{L}\\p{N}]?${UPPER}+${LOWER}*${contractions}` +
  `|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${BLANKS}`;

const BLOOM = ' ?[^(\\s|.,!?…。，、।۔،)]+';

interface NamedPreTokenizer extends PreTokenizer {
  /** Names that `tokenizer.ggml.pre` has for it. */
  readonly names: readonly string[];
}

const PRE_TOKENIZERS: readonly NamedPreTokenizer[] = [
  {
    names: [
      'gpt-2',
      'phi-2',
      'mpt',
      'olmo',
      'jais',
      'trillion',
      'exaone4',
      'gigachat',
      'a.x-4.0',
      'mellum',
    ],
    patterns: [GPT2],
  },
  {
    names: [
      'llama-bpe',
      'llama3',
      'llama-v3',
      'falcon3',
      'falcon-h1',
      'pixtral',
      'midm-2.0',
      'lfm2',
    ],
    patterns: [cl100k('\\p{N}{1,3}')],
    ignoresMerges: true,
    addsBos: true,
  },
  { names: ['dbrx', 'smaug-bpe', 'glm4', 'chatglm-bpe'], patterns: [cl100k('\\p{N}{1,3}')] },
  {
    names: [
      'qwen2',
      'deepseek-r1-qwen',
      'kormo',
      'megrez',
      'stablelm2',
      'hunyuan',
      'solar-open',
      'grok-2',
    ],
    patterns: [cl100k('\\p{N}')],
  },
  {
    names: ['smollm', 'starcoder', 'refact', 'command-r', 'codeshell', 'exaone', 'minerva-7b'],
    patterns: ['\\p{N}', GPT2],
  },
  {
    names: ['tekken'],
    patterns: [o200k('\\p{N}', '')],
    ignoresMerges: true,
    addsBos: true,
  },
  {
    names: ['gpt-4o', 'llama4', 'kanana2'],
    patterns: [o200k('\\p{N}{1,3}', `(?:${ANY_CASE_CONTRACTIONS})?`)],
  },
  {
    names: ['deepseek-coder'],
    patterns: ['[\\r\\n]', '\\s?\\p{L}+', '\\s?\\p{P}+', '[一-龥ࠀ-一가-퟿]+', '\\p{N}'],
  },
  {
    names: ['seed-coder'],
    patterns: [
      `${ANY_CASE_CONTRACTIONS}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|${BLANKS}`,
    ],
  },
  { names: ['poro-chat', 'bloom', 'gpt3-finnish'], patterns: [BLOOM] },
  { names: ['viking'], patterns: [BLOOM, '\\p{N}'] },
  {
    names: ['falcon'],
    patterns: ['[\\p{P}\\$\\+<=>\\^~\\|`]+', GPT2, '[0-9][0-9][0-9]'],
  },
  {
    names: ['default'],
    patterns: ['[\\p{P}\\$\\+<=>\\^~\\|]+', GPT2, '\\p{N}+', '[0-9][0-9][0-9]'],
  },
];

/** The one of a name, or undefined. */
export function preTokenizer(name: string): PreTokenizer | undefined {
  return PRE_TOKENIZERS.find(({ names }) => names.includes(name));
}

/** All names, in alphabetical order. */
export function preTokenizerNames(): string[] {
  return PRE_TOKENIZERS.flatMap(({ names }) => names).toSorted();
}
