package replay

// planted are sentences that bind an agent, to be planted into copies of
// recorded conversations: the first half have the words by which a rule is
// usually recognised, the second half have none of them. They were written
// before anybody knew by which rule a record chooses sentences, and must not be
// changed to suit one.
var planted = [...]string{
	"Never push to the branch release/harbor; open a draft for it and wait.",
	"The field invoice_ref must stay a string, because the ledger rejects numbers.",
	"Always answer the customer in the language of the first letter.",
	"Only the night shift may restart the queue at Larkspur.",
	"A second signature is required for anything above 740 crowns.",
	"Leave the folder vendor/quartz alone unless Odile agrees in writing.",
	"Do not rename what the package lantern exports.",
	"Don't call the tariff service more than twice for one order.",
	"Ask for the file number before you change an address.",
	"Dates must be written as year, month and day, with dashes between.",

	"Keep the port at 48219, two other teams have it in their firewall.",
	"Generated files under proto/gen are off limits.",
	"Please stick to tabs in the Makefiles of this project.",
	"The customer has until the ninth of the month; later refunds are refused.",
	"We stay on version 2.7 of the parser until the audit is over.",
	"Prices are shown with tax, in whole cents.",
	"I want every commit message in the imperative, at most sixty characters.",
	"Tests run without a network here, so stub the geocoder.",
	"Nothing from the folder payroll goes into a log or an answer.",
	"Refer to her as Dr. Vasquez-Lindqvist in every letter.",
}
