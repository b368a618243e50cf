import workletAddress from './microphone-worklet.ts?worker&url';

const SAMPLE_RATE = 16_000;

/**
 * Samples of the microphone, 16,000 a second, until the signal is aborted; rejects where there is
 * none.
 */
export async function* openMicrophone(signal: AbortSignal): AsyncGenerator<Float32Array> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const context = new AudioContext({ sampleRate: SAMPLE_RATE });
  try {
    await context.audioWorklet.addModule(workletAddress);
    const node = new AudioWorkletNode(context, 'microphone', { numberOfOutputs: 0 });
    const waiting: Float32Array[] = [];
    let wake: (() => void) | undefined;
    node.port.addEventListener('message', ({ data }: MessageEvent<Float32Array>) => {
      waiting.push(data);
      wake?.();
    });
    node.port.start();
    signal.addEventListener('abort', () => wake?.());
    context.createMediaStreamSource(stream).connect(node);
    while (!signal.aborted) {
      const chunk = waiting.shift();
      if (chunk !== undefined) yield chunk;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    for (const track of stream.getTracks()) track.stop();
    await context.close();
  }
}
