/** Where the broker has the events that tell every session of an application. */
export const applicationTopic = (appId: string) => `latchkey/v2/apps/${appId}/events`;

/** Those about a user. */
export const userTopic = (appId: string, userId: string) => `latchkey/v2/apps/${appId}/users/${userId}`;

/** Those about a session. @param sessionId as its client knows it */
export const sessionTopic = (appId: string, sessionId: string) =>
  `latchkey/v2/apps/${appId}/sessions/${sessionId}`;
