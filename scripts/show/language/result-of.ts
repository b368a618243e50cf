import { type LoadOptions, Session } from '../../../src/client/index.ts';
import type { ShownProgram } from './programs.ts';

/** The result of a program of the table, or the error as text. */
export async function resultOf(shown: ShownProgram, place: LoadOptions): Promise<unknown> {
  try {
    const session = await Session.load(shown.source(), { ...shown.options, ...place });
    try {
      return await shown.run(session);
    } finally {
      await session.dispose();
    }
  } catch (error) {
    return String(error);
  }
}
