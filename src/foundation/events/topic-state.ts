/** The topic of events for every session of an application. */
export const applicationTopic = (appId: string) => `latchkey/v2/apps/${appId}/events`;

/** The topic of events about a user. */
export const userTopic = (appId: string, userId: string) => `latchkey/v2/apps/${appId}/users/${userId}`;

/** The topic of events about a session. @param sessionId as the client received it */
export const sessionTopic = (appId: string, sessionId: string) =>
  `latchkey/v2/apps/${appId}/sessions/${sessionId}`;
