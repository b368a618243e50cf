import { TextModel } from '../../text/index.ts';
import { describeProgress, requestedDevice } from '../open-session.ts';
import type { ChosenModel } from './model-head.ts';

/** How a language model is opened. */
export interface OpenGgufOptions {
  readonly signal: AbortSignal;
  readonly onStatus: (text: string) => void;
}

/** A language model of a file on this machine with those beside it, or at an address. */
export async function openGguf(
  { name, source, beside }: ChosenModel,
  { signal, onStatus }: OpenGgufOptions,
): Promise<TextModel> {
  const options = {
    device: requestedDevice(),
    signal,
    onProgress: (progress: Parameters<typeof describeProgress>[0]) =>
      onStatus(describeProgress(progress)),
  };
  if (typeof source === 'string') return TextModel.load(source, options);
  const read = async (asked: string) =>
    asked === name ? new Uint8Array(await source.arrayBuffer()) : beside?.(asked);
  return TextModel.load(read, { ...options, file: name });
}
