import { openNodeFile } from '../../downloads/node-file.ts';
import type { OpenedSource } from './opened-source.ts';

const CHUNK_BYTE_LENGTH = 1 << 20;

/** Reads a file from its begin. Rejects with DownloadError when it cannot be read. */
export async function openFile(url: string): Promise<OpenedSource> {
  const file = await openNodeFile(url);
  const { size } = await file.stat();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(CHUNK_BYTE_LENGTH));
      if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      await file.close();
      controller.close();
    },
    cancel: () => file.close(),
  });
  return { stream, byteLength: size, where: url };
}
