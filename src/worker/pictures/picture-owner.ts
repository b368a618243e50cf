import type { HostedSession } from '../host/hosted-session.ts';
import type { WorkerPicture } from './worker-picture.ts';

export interface PictureOwner {
  /** Pictures that it holds, by the numbers that the page chose. */
  readonly held: Map<number, WorkerPicture>;
  /** Undefined for a session on a remote device, whose pictures stay in the page. */
  readonly hosted: HostedSession | undefined;
}
