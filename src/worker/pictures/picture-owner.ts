import type { HostedSession } from '../host/hosted-session.ts';

/** A session that pictures are for. */
export interface PictureOwner {
  /** An object that stands for the session. Pictures that are held for it go with it. */
  readonly key: object;
  /** Undefined for a session on a remote device, whose pictures stay in the page. */
  readonly hosted: HostedSession | undefined;
}
