import type { HostedSession } from '../hosted-session.ts';

/** A session that pictures are for. */
export interface PictureOwner {
  /** What stands for it. Pictures that are held go with it. */
  readonly key: object;
  /** Undefined for a session on a remote device, whose pictures stay in the page. */
  readonly hosted: HostedSession | undefined;
}
