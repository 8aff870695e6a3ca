/** An OpenAPI document as people write them: references, shared parameters, alternatives of security, a circle. */
export const petShop = {
  openapi: "3.0.3",
  info: { title: "Pet Shop", version: "1.2.0" },
  servers: [
    {
      url: "https://{region}.pets.example/v1/",
      variables: { region: { default: "eu", enum: ["eu", "us"] } },
    },
  ],
  security: [{ shopKey: [] }],
  paths: {
    "/pets": {
      get: {
        operationId: "listPets",
        summary: "Lists pets",
        description: "Newest first.",
        parameters: [
          { $ref: "#/components/parameters/Limit" },
          { name: "tags", in: "query", schema: { type: "array", items: { type: "string" } } },
          { name: "filter[status]", in: "query", required: true, schema: { $ref: "#/components/schemas/Status" } },
          { name: "X-Trace", in: "header", description: "For support", schema: { type: "string" } },
          { name: "Accept", in: "header", schema: { type: "string" } },
          { name: "theme", in: "cookie", schema: { type: "string" } },
        ],
        responses: { 200: { description: "Pets" } },
      },
      post: {
        operationId: "pets.create",
        requestBody: { $ref: "#/components/requestBodies/Pet" },
        responses: { 201: { description: "Made" } },
      },
    },
    "/pets/{petId}": {
      parameters: [{ name: "petId", in: "path", required: true, schema: { type: "integer", format: "int64" } }],
      get: { operationId: "getPet", security: [], responses: {} },
      put: {
        operationId: "replace pet!",
        parameters: [{ name: "petId", in: "query", schema: { type: "string" } }],
        requestBody: { content: { "application/vnd.pets+json": { schema: { $ref: "#/components/schemas/Pet" } } } },
        responses: {},
      },
      patch: {
        security: [{ login: [] }],
        requestBody: { required: true, content: { "application/json": {} } },
        responses: {},
      },
      delete: { operationId: "deletePet", security: [{ cookieKey: [] }, { token: [], queryKey: [] }], responses: {} },
      options: { operationId: "askPet", responses: {} },
    },
    "/pets/{petId}/photo": {
      post: {
        operationId: "uploadPhoto",
        requestBody: { required: true, content: { "multipart/form-data": { schema: { type: "object" } } } },
        responses: {},
      },
    },
  },
  components: {
    parameters: {
      Limit: { name: "limit", in: "query", schema: { type: "integer", minimum: 0, exclusiveMinimum: true } },
    },
    requestBodies: {
      Pet: { required: true, content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } } },
    },
    schemas: {
      Status: { type: "string", enum: ["sold", "free"] },
      Pet: {
        type: "object",
        required: ["id", "name"],
        properties: {
          id: { type: "integer", readOnly: true },
          name: { type: "string", example: "Rex" },
          nick: { type: "string", nullable: true },
          status: { $ref: "#/components/schemas/Status" },
          parent: { $ref: "#/components/schemas/Pet" },
        },
        xml: { name: "pet" },
      },
    },
    securitySchemes: {
      shopKey: { type: "apiKey", in: "header", name: "X-Shop-Key" },
      queryKey: { type: "apiKey", in: "query", name: "key" },
      cookieKey: { type: "apiKey", in: "cookie", name: "sid" },
      token: { type: "http", scheme: "bearer" },
      login: { type: "http", scheme: "basic" },
    },
  },
} as const
