export type { FinishReason, GeneratedToken, TokenConstraint } from './generation.ts';
export type { ReadFile } from './model-folder.ts';
export type { SamplingOptions } from './sampling.ts';
export { Generation, type Usage } from './text-generation.ts';
export { type GenerateOptions, type TextLoadOptions, TextModel } from './text-model.ts';
export type { TextTokenizer } from './text-tokenizer.ts';
