import { voiceActivity } from '../../tasks/index.ts';

export const voice = voiceActivity('./files/silero/silero_vad.onnx');
export async function* hearSpeech(chunks: AsyncIterable<Float32Array>) {
  await using stream = (await voice).stream(); // 16,000 samples a second
  for await (const samples of chunks) yield* await stream.push(samples); // { likelihood, isSpeech }
}
